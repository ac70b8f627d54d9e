// Generated from openapi.yaml by `npm run generate`. Do not edit.

export interface paths {
    "/v1/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Version, limits and ways to authenticate */
        get: operations["getInfo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/openapi.yaml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: operations["getOpenAPI"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asyncapi.yaml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The WebSocket's document */
        get: operations["getAsyncAPI"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/topics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Topics by name */
        get: operations["listTopics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/topics/{topic}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        /** One topic */
        get: operations["getTopic"];
        /**
         * Create a topic, or replace its settings
         * @description What is left out gets its default. `If-None-Match: *` creates only; `If-Match` replaces that version only.
         *     The type of a topic never changes and its queues only grow. The answer means that the change is durable.
         */
        put: operations["putTopic"];
        post?: never;
        /** Delete a topic and all its messages */
        delete: operations["deleteTopic"];
        options?: never;
        head?: never;
        /**
         * Change some settings of a topic
         * @description What is left out keeps its value; `attributes`, when given, replaces all attributes.
         */
        patch: operations["updateTopic"];
        trace?: never;
    };
    "/v1/topics/{topic}/queues": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        /** The queues of a topic and their bounds */
        get: operations["listQueues"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/topics/{topic}/offsets": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        /**
         * The offset in every queue for a time or a position
         * @description Give exactly one of `timestamp` and `position`. For a timestamp it is the first message stored at or after that
         *     time, exactly; the next offset where there is none.
         */
        get: operations["findOffsets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/topics/{topic}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send up to 1000 messages
         * @description The whole request is checked first: after 400, 409, 413, 415 or 422 nothing is stored. 200 = every message is
         *     stored and durable. A message with an `ordering_key` goes to the queue of that key, one with `queue` to that queue,
         *     any other to a queue that the server picks. The messages of a request take at most 8 MiB together as they are stored
         *     (`docs/framing.md`); the body may have 16 MiB.
         */
        post: operations["sendMessages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/topics/{topic}/requests": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message and wait for the reply to it
         * @description The message is stored like any other, and has the properties `__reply_to`, the address for `sendReply`, and
         *     `__correlation_id`. The answer comes with the first reply, from whoever and through whatever server. When none comes in
         *     time the answer is 504 `reply_timeout`; the message is stored then, and its place is in `errors`. Sending again sends another message.
         */
        post: operations["requestReply"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reply to a request
         * @description The first reply counts, and only while the request waits. It is not stored: whoever waits gets it, or nobody.
         */
        post: operations["sendReply"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/topics/{topic}/messages/raw": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send one message whose body is the request's body
         * @description Every request header `Bmq-Property-<Name>` becomes the property `<name>` (in lower case) of the message. Values are
         *     percent-decoded, so that any UTF-8 text can be sent.
         */
        post: operations["sendRawMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/topics/{topic}/messages/framed": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send messages as length-prefixed records, the fast path
         * @description The body is a plain concatenation of records as laid out in `docs/framing.md`.
         */
        post: operations["sendFramedMessages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/topics/{topic}/scheduled/{handle}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
                /** @description The `recall_handle` of a delayed message. */
                handle: components["parameters"]["HandleParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Take a delayed message away before it is due
         * @description Nobody reads it any more. To repeat the request gives the same answer for a day after the message would have been due.
         */
        delete: operations["recallMessage"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/topics/{topic}/queues/{queue}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
                /** @description The number of a queue, from 0. */
                queue: components["parameters"]["QueueParam"];
            };
            cookie?: never;
        };
        /**
         * Messages of one queue from an offset on
         * @description Give at most one of `offset`, `position` and `timestamp`; without any it starts at the earliest message.
         *     With `wait_ms` an empty answer is held until a message arrives. `status` is `found`, `no_new` (nothing there yet) or
         *     `no_match` (what was examined did not match; go on at `next_offset` at once). Continue at `next_offset` always.
         *     Nothing is remembered between requests. `max_bytes` is soft: the first message always comes.
         */
        get: operations["readMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/topics/{topic}/queues/{queue}/frames": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
                /** @description The number of a queue, from 0. */
                queue: components["parameters"]["QueueParam"];
            };
            cookie?: never;
        };
        /**
         * The same as readMessages, as length-prefixed records
         * @description The body is laid out as `docs/framing.md` says; what a page says besides its messages is in the headers.
         */
        get: operations["readFrames"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/topics/{topic}/queues/{queue}/messages/{offset}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
                /** @description The number of a queue, from 0. */
                queue: components["parameters"]["QueueParam"];
                /** @description The offset of the message in its queue. */
                offset: components["parameters"]["MessageOffsetParam"];
            };
            cookie?: never;
        };
        /**
         * One message
         * @description A message never changes, so the answer may be cached for ever.
         */
        get: operations["getMessage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/topics/{topic}/queues/{queue}/messages/{offset}/raw": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
                /** @description The number of a queue, from 0. */
                queue: components["parameters"]["QueueParam"];
                /** @description The offset of the message in its queue. */
                offset: components["parameters"]["MessageOffsetParam"];
            };
            cookie?: never;
        };
        /**
         * The body of one message, as it was sent
         * @description The answer is always `application/octet-stream`, so that a browser never runs a stored body; what the producer called
         *     it is in `Bmq-Content-Type`. Properties are `Bmq-Property-<Name>` headers, percent-encoded.
         */
        get: operations["getRawMessage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/topics/{topic}/search": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        /**
         * Find messages by id, or by key, time and tag
         * @description Give either `message_id`, or `key` or `from` (and perhaps `to` and `tag`). A request examines a bounded part of the
         *     topic: `scanned_until` says how far it came; go on with `next_page_token` while there is one, also after an empty page.
         *     By `key` it reads only what may hold the key.
         */
        get: operations["searchMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Groups by name */
        get: operations["listGroups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        /** One group */
        get: operations["getGroup"];
        /**
         * Create a group, or replace its settings
         * @description What is left out gets its default. `If-None-Match: *` creates only; `If-Match` replaces that version only. Members that
         *     are live go by the new settings at once. The answer means that the change is durable.
         */
        put: operations["putGroup"];
        post?: never;
        /**
         * Delete a group, its members and its offsets
         * @description It is refused while the group has members, unless `force` is true.
         */
        delete: operations["deleteGroup"];
        options?: never;
        head?: never;
        /**
         * Change some settings of a group
         * @description What is left out keeps its value; lists, maps and objects are replaced as a whole.
         */
        patch: operations["updateGroup"];
        trace?: never;
    };
    "/v1/groups/{group}/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        /**
         * What a group consumes, and the live settings of each topic
         * @description It has the topics that members subscribe to now, or did last, and those with settings.
         */
        get: operations["listSubscriptions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/subscriptions/{topic}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        /** The live settings of a group in one topic */
        get: operations["getSubscription"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the live settings of a group in one topic
         * @description What is left out keeps its value. Members get the new settings at once, with their next heartbeat or over their WebSocket.
         *     In shared consumption `tags`, `delay_ms` and `pull_threshold_for_queue` count, from the next message that is delivered.
         */
        patch: operations["updateSubscription"];
        trace?: never;
    };
    "/v1/groups/{group}/members": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        /** The members of a group, and the last that were refused */
        get: operations["listMembers"];
        put?: never;
        /**
         * Become a member of a group
         * @description All members of a group subscribe alike: other subscriptions than those of the live members are refused and shown by
         *     `listMembers`. In a clustering group each queue belongs to one member; a member whose subscriptions name `queues` has
         *     exactly those and takes no part in the distribution (assign mode). In a broadcasting group every member has every queue.
         *     A topic that is new to the group starts by its `consume_from` at this moment, so nothing is missed before the first poll.
         *     The same `client_id` with the same `session_key` is the same member again; with another one, or none, the newer member
         *     replaces the older, whose calls get 409 `session_taken`. Call `heartbeatMember` or `pollMember` every `heartbeat_ms`.
         */
        post: operations["joinGroup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/members/{member}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
                /** @description The member's id. */
                member: components["parameters"]["MemberParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Leave a group
         * @description Its queues go to others and a poll in flight ends at once. Leaving again, or as a member that is not known, is fine.
         */
        delete: operations["leaveGroup"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/members/{member}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
                /** @description The member's id. */
                member: components["parameters"]["MemberParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stay a member, and learn what changed
         * @description `wait_ms` holds the answer until the generation, the member's queues or the settings are others than `generation` says.
         *     Give queues that are `revoking` back in `released`, once their last messages are handled and committed: their next owner has
         *     them at once, else at their `deadline`.
         */
        post: operations["heartbeatMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/members/{member}/poll": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
                /** @description The member's id. */
                member: components["parameters"]["MemberParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Messages of the member's own queues
         * @description Give each poll the `cursor` of the answer before: with `auto_commit` (the default) it commits what that answer delivered,
         *     and the poll goes on behind it. Without a cursor a poll begins at the committed offsets, so a lost answer is repeated and
         *     never skipped. The server keeps nothing between polls and any gateway answers any of them. A poll is a heartbeat as well,
         *     and gives back queues that are being revoked once the cursor covers them. `max_bytes` is soft: the first message always comes.
         */
        post: operations["pollMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/members/{member}/seek": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
                /** @description The member's id. */
                member: components["parameters"]["MemberParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move one of the member's own queues
         * @description The next poll delivers from there; the cursor of a poll before no longer moves this queue. Of several seeks the last counts.
         *     The offset must lie in the queue.
         */
        post: operations["seekMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/assignments": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        /** Whose each queue is, and why */
        get: operations["listAssignments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/receive": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Messages of any queue, for a time
         * @description Shared consumption: nobody owns queues, so any number of receivers get work. A message is hidden from all others for
         *     `invisible_ms` and named by its `receipt`; acknowledge it before its `deadline`, else it is delivered again. An ordered
         *     group gives the next messages of a queue when the ones before are acknowledged; the same `attempt_id` gets the same
         *     messages again without counting as another attempt. `max_bytes` is soft: the first message always comes.
         */
        post: operations["receiveMessages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/ack": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Finish messages that were received
         * @description Acknowledging again is fine, also through another gateway.
         *     200 = all were accepted. 207 = some were: `results` says which. When none was, the answer is a problem whose `errors`
         *     has one item for each; its code is that of the gravest (of the highest status).
         */
        post: operations["ackMessages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/nack": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give messages back to be delivered again
         * @description Each comes again after `delay_ms`, or after what the group's `retry` says for this attempt: from a second on through the
         *     group's retry topic (`listRetries`), so that it holds nothing up; below that, and in an ordered group, in its place. A message
         *     that has had all its `max_attempts`, or with `dead_letter`, becomes a dead letter (`listDeadLetters`). Once it has moved,
         *     its receipt is superseded.
         *     200 = all were accepted. 207 = some were: `results` says which. When none was, the answer is a problem whose `errors`
         *     has one item for each; its code is that of the gravest (of the highest status).
         */
        post: operations["nackMessages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/extend": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Keep messages hidden for longer
         * @description Counted from now. The old receipt stays good beside the new one.
         *     200 = all were accepted. 207 = some were: `results` says which. When none was, the answer is a problem whose `errors`
         *     has one item for each; its code is that of the gravest (of the highest status).
         */
        post: operations["extendMessages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/retries": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        /**
         * Messages that the group is to get again
         * @description Those of the group's retry topic: `waiting` ones by when they come, or `due` ones that are not finished yet in their order;
         *     in a group that is consumed in shared mode the latter has finished ones behind the first that is not. What waits less than a
         *     second, or in an ordered group, waits in its queue and is not here.
         */
        get: operations["listRetries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        /**
         * Messages that the group gave up
         * @description Oldest first, without those that were redriven or purged. A request examines a bounded part: go on with `next_page_token`
         *     while there is one.
         */
        get: operations["listDeadLetters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/dead-letters/redrive": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deliver dead letters to the group once more
         * @description They get all their attempts again, and only this group gets them. With `rate` those of one call come one after the other. A call that
         *     is repeated within ten minutes of an error delivers none twice.
         */
        post: operations["redriveDeadLetters"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/dead-letters/purge": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Drop dead letters
         * @description They are not shown any more. Their bytes go with the topic's retention.
         */
        post: operations["purgeDeadLetters"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/offsets": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        /**
         * Progress and lag in every queue
         * @description It has every queue of every topic that the group consumes, also those that it never committed in. An offset is the next
         *     to consume.
         */
        get: operations["listOffsets"];
        /**
         * Commit progress
         * @description An offset is the next to consume, and counts only under the stored `version` of the queue: forward in a group whose
         *     `commit_policy` is `monotonic`, anywhere if it is `overwrite`. A queue with an owner takes commits of that owner only, with
         *     its `assignment_epoch`. `sync` = stored when answered; otherwise it is merged with others and stored within seconds, and
         *     `pending`. Committing again is fine. 200 = all were accepted, also those not beyond what is stored (`unchanged`). 207 = some
         *     were: `results` says which. When none was, the answer is a problem whose `errors` has one item for each; its code is that
         *     of the gravest (of the highest status).
         */
        put: operations["commitOffsets"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/offsets/export": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        /**
         * All offsets in the form of RocketMQ's consumerOffset.json
         * @description That form has no place for clients: of a broadcasting group the smallest offset of any client is told.
         */
        get: operations["exportOffsets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/offsets/reset": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move a group's progress in a topic
         * @description It works with members and without. Every reset raises the offset version of its queues: what members have buffered is
         *     dropped, commits under the old version no longer count, and the next message that is delivered is the one at the new offset.
         *     `to: offset` must be within each of the queues; the other targets are moved to the nearest end. `dry_run` only tells what
         *     would happen. In a broadcasting group each client has its own progress, which is not moved: 400.
         */
        post: operations["resetOffsets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{group}/queues/{topic}/{queue}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
                /** @description The number of a queue, from 0. */
                queue: components["parameters"]["QueueParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Stop or start a group's consumption of one queue
         * @description A stopped queue commits the progress that its owner has made and delivers nothing until it is started again. In a
         *     broadcasting group there is nothing to stop: 400.
         */
        patch: operations["updateGroupQueue"];
        trace?: never;
    };
    "/v1/topics/{topic}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        /**
         * Messages as server-sent events
         * @description Events: `message` (data = Message, id = cursor), `gap` (data = Gap: messages that this stream did not carry) and
         *     `error` (data = Problem, the last event). A comment comes every 15 s. Reconnect with `Last-Event-ID`.
         */
        get: operations["streamMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/transactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Store messages of several topics that become readable together, or never
         * @description The messages are half messages: stored and durable, without offsets, and seen by nobody until `commitTransaction`; after
         *     `rollbackTransaction` never. Topics are of type `transaction` or `mixed`; the messages are not delayed, and take at most
         *     1000 and 8 MiB together. Commit makes them readable topic by topic, so a reader of two topics may see one first.
         *     Whoever neither commits nor rolls back is asked: `pollChecks`, or `tx_check` on a WebSocket. With an `Idempotency-Key`
         *     the same request gets the same transaction again.
         */
        post: operations["beginTransaction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/transactions/{transaction}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `transaction_id`. */
                transaction: components["parameters"]["TransactionParam"];
            };
            cookie?: never;
        };
        /**
         * A transaction, its state and its messages
         * @description Decisions are remembered for a day, or the last 10,000 of a producer group; expired transactions for three days.
         */
        get: operations["getTransaction"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/transactions/{transaction}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `transaction_id`. */
                transaction: components["parameters"]["TransactionParam"];
            };
            cookie?: never;
        };
        /**
         * The messages of a transaction that nobody decided yet
         * @description Of one that is `open` or `expired`: for producers that are asked about it, and for people. The messages of a committed
         *     one are in their topics, at its `places`; those of one that was rolled back are gone.
         */
        get: operations["listTransactionMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/transactions/{transaction}/commit": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `transaction_id`. */
                transaction: components["parameters"]["TransactionParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make the messages of a transaction readable
         * @description The first decision counts: to repeat it gives the same answer, the opposite one 409 with the outcome. The answer comes
         *     when the decision is durable and every message has its offset.
         */
        post: operations["commitTransaction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/transactions/{transaction}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `transaction_id`. */
                transaction: components["parameters"]["TransactionParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * See to it that nobody ever reads the messages of a transaction
         * @description As `commitTransaction`, the other way.
         */
        post: operations["rollbackTransaction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/producer-groups/{group}/transactions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of the producer group. */
                group: components["parameters"]["ProducerGroupParam"];
            };
            cookie?: never;
        };
        /**
         * Transactions of a producer group, the oldest first
         * @description Undecided ones, and those that are still remembered. A page examines at most 1000, so one with a `state` may have fewer
         *     items than `limit`, or none; go on as long as there is a `next_page_token`.
         */
        get: operations["listTransactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/producer-groups/{group}/checks": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of the producer group. */
                group: components["parameters"]["ProducerGroupParam"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undecided transactions that somebody has to decide
         * @description For the producers of a group: holds the request until a check is due, and gives each to one of them. Answer a check by
         *     `commitTransaction` or `rollbackTransaction`; without an answer it comes again after 30 s, to any live producer of the
         *     group, 15 times in all. Then the transaction is `expired`: not readable, and kept for three days. Only checks that were
         *     sent count.
         */
        post: operations["pollChecks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ws/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A one-time ticket that opens a WebSocket */
        post: operations["createTicket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ws": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Open a WebSocket
         * @description The protocol is in `/v1/asyncapi.yaml`. Subprotocols are `bmq.v1.json` and `bmq.v1.bin`. Browsers do not show the answer
         *     to an upgrade, so a bad ticket and an unknown subprotocol are told by a close code.
         */
        get: operations["openWebSocket"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Gateways, coordinator, writers and the health of Redis and the store */
        get: operations["getCluster"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description What went wrong (RFC 9457). Act on `code`; `docs/errors.md` lists the codes and new ones may come.
         * @example {
         *       "type": "urn:bucketmq:error:topic_not_found",
         *       "title": "No such topic",
         *       "status": 404,
         *       "code": "topic_not_found",
         *       "detail": "there is no topic orders",
         *       "instance": "/v1/topics/orders",
         *       "request_id": "019ad8f4-5c2a-7c3b-9a55-0b1f2c3d4e5f",
         *       "retryable": false,
         *       "definite": true
         *     }
         */
        Problem: {
            /** @description A URN that ends with the code. */
            type: string;
            /** @description The kind of problem in words. */
            title: string;
            /**
             * Format: int32
             * @description The HTTP status.
             */
            status: number;
            /** @description The kind of problem for programs. */
            code: string;
            /** @description What is wrong with this request. */
            detail?: string;
            /** @description The path of the request. */
            instance?: string;
            /** @description The id of the request in the server's logs. */
            request_id: string;
            /** @description The same request may succeed later. */
            retryable: boolean;
            /** @description The request surely changed nothing. */
            definite: boolean;
            /**
             * Format: int64
             * @description How long to wait before another try.
             */
            retry_after_ms?: number;
            /** @description Where the problem is, one item per place. */
            errors?: components["schemas"]["ProblemItem"][];
        };
        /**
         * @description One place of a problem, with the current state where that helps to go on.
         * @example {
         *       "pointer": "query:offset",
         *       "code": "offset_trimmed",
         *       "min_offset": 1000,
         *       "next_offset": 2000,
         *       "epoch": 1
         *     }
         */
        ProblemItem: {
            /** @description A JSON pointer into the body, or `query:`, `path:` or `header:` and a name. */
            pointer: string;
            /** @description The kind of problem at this place. */
            code: string;
            /** @description The rule that is broken. */
            detail?: string;
            /**
             * Format: int64
             * @description The first offset that is kept.
             */
            min_offset?: number;
            /**
             * Format: int64
             * @description The first offset that cannot be read.
             */
            first_offset?: number;
            /**
             * Format: int64
             * @description The offset after the last message; for unreadable data the first offset after it.
             */
            next_offset?: number;
            /**
             * Format: int64
             * @description The epoch that the offsets belong to.
             */
            epoch?: number;
            /**
             * Format: int64
             * @description The epoch of the topic or producer now.
             */
            current_epoch?: number;
            /**
             * Format: int64
             * @description The sequence number that would be accepted.
             */
            expected_seq?: number;
            /**
             * Format: int64
             * @description The topic's number of queues.
             */
            queues?: number;
            /** @description The topic's type. */
            type?: string;
            /** @description The current ETag. */
            etag?: string;
            /**
             * Format: int64
             * @description The group's last assignment decision.
             */
            generation?: number;
            /** @description The state of the transaction: `committed`, `rolled_back` or `expired`. */
            outcome?: string;
            /** @description What the live members of the group subscribe to. */
            subscriptions?: components["schemas"]["Subscription"][];
            /**
             * Format: int64
             * @description The offset that is stored.
             */
            offset?: number;
            /**
             * Format: int64
             * @description The version that the stored offset has.
             */
            version?: number;
            /**
             * Format: int64
             * @description The attempt that the receipt is of.
             */
            attempt?: number;
            /**
             * Format: int64
             * @description How many attempts the message has had; absent when it is not in flight.
             */
            current_attempt?: number;
            /**
             * Format: date-time
             * @description Until when the present delivery counts; absent when there is none.
             */
            deadline?: string;
            /**
             * Format: date-time
             * @description When that was judged, by the clock that set the deadline.
             */
            now?: string;
            /** @description The same item may succeed later; absent when it will not. */
            retryable?: boolean;
            /** @description The message that is stored. */
            message_id?: string;
            /** @description Its property `__correlation_id`. */
            correlation_id?: string;
            /**
             * Format: int64
             * @description Its queue; `offset` is its offset.
             */
            queue?: number;
        };
        /**
         * @description What this server is and what it accepts.
         * @example {
         *       "name": "bucketmq",
         *       "version": "1.0.0",
         *       "auth_modes": [
         *         "none"
         *       ],
         *       "idempotency_window_ms": 600000,
         *       "limits": {
         *         "topic_name_chars": 127,
         *         "queues_per_topic": 1024,
         *         "message_bytes": 4194304,
         *         "request_bytes": 16777216,
         *         "batch_messages": 1000,
         *         "batch_bytes": 8388608,
         *         "properties": 128,
         *         "properties_bytes": 32767,
         *         "tag_bytes": 1024,
         *         "ordering_key_chars": 64,
         *         "page_items": 1000,
         *         "read_bytes": 16777216,
         *         "wait_ms": 30000,
         *         "header_bytes": 32768,
         *         "json_depth": 32,
         *         "ticket_ttl_ms": 60000,
         *         "group_name_chars": 120,
         *         "group_subscriptions": 100,
         *         "receive_messages": 32,
         *         "receipts": 1000,
         *         "invisible_ms": 43200000,
         *         "delay_ms": 3456000000,
         *         "transaction_topics": 16,
         *         "check_after_ms": 3600000,
         *         "reference_bytes": 1024,
         *         "open_transactions": 10000
         *       },
         *       "websocket_protocols": [
         *         "bmq.v1.json",
         *         "bmq.v1.bin"
         *       ]
         *     }
         */
        Info: {
            /** @description Always `bucketmq`. */
            name: string;
            /** @description The server's version. */
            version: string;
            /** @description How requests may authenticate; `none`: not at all. */
            auth_modes: string[];
            /**
             * Format: int64
             * @description How long an `Idempotency-Key` is remembered.
             */
            idempotency_window_ms: number;
            limits: components["schemas"]["Limits"];
            /** @description The subprotocols of `/v1/ws`. */
            websocket_protocols: string[];
        };
        /**
         * @description The largest value of each.
         * @example {
         *       "topic_name_chars": 127,
         *       "queues_per_topic": 1024,
         *       "message_bytes": 4194304,
         *       "request_bytes": 16777216,
         *       "batch_messages": 1000,
         *       "batch_bytes": 8388608,
         *       "properties": 128,
         *       "properties_bytes": 32767,
         *       "tag_bytes": 1024,
         *       "ordering_key_chars": 64,
         *       "page_items": 1000,
         *       "read_bytes": 16777216,
         *       "wait_ms": 30000,
         *       "header_bytes": 32768,
         *       "json_depth": 32,
         *       "ticket_ttl_ms": 60000,
         *       "group_name_chars": 120,
         *       "group_subscriptions": 100,
         *       "receive_messages": 32,
         *       "receipts": 1000,
         *       "invisible_ms": 43200000,
         *       "delay_ms": 3456000000,
         *       "transaction_topics": 16,
         *       "check_after_ms": 3600000,
         *       "reference_bytes": 1024,
         *       "open_transactions": 10000
         *     }
         */
        Limits: {
            /**
             * Format: int64
             * @description A topic's name.
             */
            topic_name_chars: number;
            /**
             * Format: int64
             * @description Queues of a topic.
             */
            queues_per_topic: number;
            /**
             * Format: int64
             * @description The body of a message.
             */
            message_bytes: number;
            /**
             * Format: int64
             * @description The body of a request after decompression.
             */
            request_bytes: number;
            /**
             * Format: int64
             * @description Messages of a request.
             */
            batch_messages: number;
            /**
             * Format: int64
             * @description All messages of a request together as they are stored.
             */
            batch_bytes: number;
            /**
             * Format: int64
             * @description Properties of a message.
             */
            properties: number;
            /**
             * Format: int64
             * @description All properties of a message together.
             */
            properties_bytes: number;
            /**
             * Format: int64
             * @description A tag.
             */
            tag_bytes: number;
            /**
             * Format: int64
             * @description An ordering key.
             */
            ordering_key_chars: number;
            /**
             * Format: int64
             * @description Items of a page.
             */
            page_items: number;
            /**
             * Format: int64
             * @description max_bytes of a read.
             */
            read_bytes: number;
            /**
             * Format: int64
             * @description How long a read is held.
             */
            wait_ms: number;
            /**
             * Format: int64
             * @description All headers of a request.
             */
            header_bytes: number;
            /**
             * Format: int64
             * @description Nesting of JSON.
             */
            json_depth: number;
            /**
             * Format: int64
             * @description Life of a ticket.
             */
            ticket_ttl_ms: number;
            /**
             * Format: int64
             * @description A group's name.
             */
            group_name_chars: number;
            /**
             * Format: int64
             * @description Topics that a member subscribes to.
             */
            group_subscriptions: number;
            /**
             * Format: int64
             * @description Messages of a receive.
             */
            receive_messages: number;
            /**
             * Format: int64
             * @description Receipts of a request.
             */
            receipts: number;
            /**
             * Format: int64
             * @description How long a message is hidden.
             */
            invisible_ms: number;
            /**
             * Format: int64
             * @description How far ahead a message is delivered.
             */
            delay_ms: number;
            /**
             * Format: int64
             * @description Topics of a transaction.
             */
            transaction_topics: number;
            /**
             * Format: int64
             * @description How late the first check of a transaction is.
             */
            check_after_ms: number;
            /**
             * Format: int64
             * @description A transaction's reference.
             */
            reference_bytes: number;
            /**
             * Format: int64
             * @description Undecided transactions of a producer group.
             */
            open_transactions: number;
        };
        /**
         * @description A transaction to begin.
         * @example {
         *       "producer_group": "sellers",
         *       "reference": "order-1001",
         *       "topics": [
         *         {
         *           "topic": "orders",
         *           "messages": [
         *             {
         *               "body": "{\"order\":1001}",
         *               "tag": "paid"
         *             }
         *           ]
         *         },
         *         {
         *           "topic": "stock",
         *           "messages": [
         *             {
         *               "body": "{\"item\":7}"
         *             }
         *           ]
         *         }
         *       ]
         *     }
         */
        TransactionRequest: {
            /** @description Whose producers are asked about it. */
            producer_group: string;
            /** @description The messages by topic; each topic once. */
            topics: components["schemas"]["TopicMessages"][];
            /**
             * Format: int64
             * @description When producers are first asked if it is not decided.
             * @default 6000
             */
            check_after_ms: number;
            /** @description Your own name for it, such as an order number; checks tell it, so that also a producer that never got the `transaction_id` knows what it is asked about. */
            reference?: string;
        };
        /**
         * @description Messages for one topic.
         * @example {
         *       "topic": "orders",
         *       "messages": [
         *         {
         *           "body": "{\"order\":1001}",
         *           "tag": "paid"
         *         }
         *       ]
         *     }
         */
        TopicMessages: {
            /** @description The topic, of type `transaction` or `mixed`. */
            topic: string;
            /** @description The messages. */
            messages: components["schemas"]["NewMessage"][];
        };
        /**
         * @description `begun` = its messages are being stored; `open` = undecided; `committed` = its messages are readable, or will be in a
         *     moment; `rolled_back` = they never are; `expired` = nobody decided it: they are not readable and kept for three days.
         * @example open
         * @enum {string}
         */
        TransactionState: "begun" | "open" | "committed" | "rolled_back" | "expired";
        /**
         * @description A transaction.
         * @example {
         *       "transaction_id": "AVdRcp3nAwQZrZ9cKnwAgAAAAAAAAAAB",
         *       "producer_group": "sellers",
         *       "state": "open",
         *       "reference": "order-1001",
         *       "created_at": "2026-12-01T08:30:00.000Z",
         *       "deadline": "2026-12-01T08:30:06.000Z",
         *       "check_after_ms": 6000,
         *       "checks": 0,
         *       "max_checks": 15,
         *       "next_check_at": "2026-12-01T08:30:06.010Z",
         *       "readable": false,
         *       "topics": [
         *         {
         *           "topic": "orders",
         *           "messages": 1,
         *           "message_ids": [
         *             "019ad8f4-5c2a-7c00-8000-3f2b6a1d9e00"
         *           ],
         *           "places": []
         *         }
         *       ]
         *     }
         */
        Transaction: {
            /** @description Its id. */
            transaction_id: string;
            /** @description Whose producers are asked about it. */
            producer_group: string;
            state: components["schemas"]["TransactionState"];
            /** @description Of a state that no producer asked for: `incomplete`, `unanswered`, `lifetime` or `forced`. */
            reason?: string;
            /** @description The producer's own name for it. */
            reference?: string;
            /**
             * Format: date-time
             * @description When it began.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When producers are first asked, if it is not decided until then.
             */
            deadline: string;
            /**
             * Format: int64
             * @description What was asked for.
             */
            check_after_ms: number;
            /**
             * Format: int64
             * @description How often producers were asked.
             */
            checks: number;
            /**
             * Format: int64
             * @description How often they are asked before it expires.
             */
            max_checks: number;
            /**
             * Format: date-time
             * @description When a producer was last asked.
             */
            checked_at?: string;
            /**
             * Format: date-time
             * @description When a producer is asked next, while it is open.
             */
            next_check_at?: string;
            /**
             * Format: date-time
             * @description When it was decided, or expired.
             */
            decided_at?: string;
            /** @description Its messages have offsets and are readable. */
            readable: boolean;
            /** @description What it sends to each topic. */
            topics: components["schemas"]["TransactionTopic"][];
        };
        /**
         * @description What a transaction sends to a topic.
         * @example {
         *       "topic": "orders",
         *       "messages": 1,
         *       "message_ids": [
         *         "019ad8f4-5c2a-7c00-8000-3f2b6a1d9e00"
         *       ],
         *       "places": [
         *         {
         *           "queue": 3,
         *           "offset": 42,
         *           "messages": 1,
         *           "epoch": 1,
         *           "first_message_id": "019ad8f4-5c2a-7c00-8000-3f2b6a1d9e00"
         *         }
         *       ]
         *     }
         */
        TransactionTopic: {
            /** @description The topic. */
            topic: string;
            /**
             * Format: int64
             * @description How many messages.
             */
            messages: number;
            /** @description Their ids in the order of the request; not in a list. */
            message_ids?: string[];
            /** @description Where they are, once they are readable. */
            places: components["schemas"]["TransactionPlace"][];
            /** @description The topic was deleted before they became readable, and they with it. */
            gone?: boolean;
        };
        /**
         * @description A run of messages of one queue.
         * @example {
         *       "queue": 3,
         *       "offset": 42,
         *       "messages": 1,
         *       "epoch": 1,
         *       "first_message_id": "019ad8f4-5c2a-7c00-8000-3f2b6a1d9e00"
         *     }
         */
        TransactionPlace: {
            /**
             * Format: int64
             * @description The queue.
             */
            queue: number;
            /**
             * Format: int64
             * @description Of the first of them.
             */
            offset: number;
            /**
             * Format: int64
             * @description How many, one after the other, in the order of the request.
             */
            messages: number;
            /**
             * Format: int64
             * @description The topic's epoch that the offset belongs to.
             */
            epoch: number;
            /** @description The id of the first of them. */
            first_message_id: string;
        };
        /**
         * @description A message of a transaction that is not decided; it has no offset.
         * @example {
         *       "topic": "orders",
         *       "message_id": "019ad8f4-5c2a-7c00-8000-3f2b6a1d9e00",
         *       "queue": 3,
         *       "body": "{\"order\":1001}",
         *       "encoding": "text",
         *       "tag": "paid",
         *       "born_at": "2026-12-01T08:30:00.000Z"
         *     }
         */
        TransactionMessage: {
            /** @description Its topic. */
            topic: string;
            /** @description Its id. */
            message_id: string;
            /**
             * Format: int64
             * @description The queue that it goes to.
             */
            queue: number;
            /** @description The body as `encoding` says; `null` is a tombstone. */
            body: string | null;
            encoding: components["schemas"]["Encoding"];
            /** @description What the producer called the body. */
            content_type?: string;
            /** @description Its tag. */
            tag?: string;
            /** @description Its business keys. */
            keys?: string[];
            /** @description Its ordering key. */
            ordering_key?: string;
            /** @description Its properties. */
            properties?: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When it came to be.
             */
            born_at: string;
        };
        /**
         * @description The messages of a transaction.
         * @example {
         *       "items": []
         *     }
         */
        TransactionMessageList: {
            /** @description The messages. */
            items: components["schemas"]["TransactionMessage"][];
        };
        /**
         * @description A page of transactions.
         * @example {
         *       "items": []
         *     }
         */
        TransactionList: {
            /** @description The transactions by age. */
            items: components["schemas"]["Transaction"][];
            /** @description What gives the next page; absent on the last one. */
            next_page_token?: string;
        };
        /**
         * @description What a producer asks for.
         * @example {
         *       "max_checks": 16,
         *       "wait_ms": 20000
         *     }
         */
        CheckRequest: {
            /**
             * Format: int64
             * @description The most checks to give.
             * @default 16
             */
            max_checks: number;
            /**
             * Format: int64
             * @description How long to hold the request while no check is due.
             * @default 0
             */
            wait_ms: number;
        };
        /**
         * @description Checks that were sent.
         * @example {
         *       "transactions": []
         *     }
         */
        CheckList: {
            /** @description The transactions to decide. */
            transactions: components["schemas"]["Transaction"][];
        };
        /**
         * @description A YAML document.
         * @example openapi: 3.0.3
         */
        Document: string;
        /**
         * Format: binary
         * @description Raw bytes.
         * @example hello
         */
        Bytes: string;
        /**
         * @description Server-sent events.
         * @example id: eyJlIjoxLCJvIjpbNDNdfQ
         *     event: message
         *     data: {}
         */
        EventStream: string;
        /**
         * @description What a topic is for. `normal` holds plain messages, `fifo` ordered ones, `delay` delayed and plain ones, `transaction` those of transactions, `mixed` any.
         * @example normal
         * @enum {string}
         */
        TopicType: "normal" | "fifo" | "delay" | "transaction" | "mixed";
        /**
         * @description What can be set of a topic.
         * @example {
         *       "type": "normal",
         *       "queues": 8,
         *       "retention_ms": 259200000,
         *       "attributes": {
         *         "owner": "billing"
         *       }
         *     }
         */
        TopicSettings: {
            type?: components["schemas"]["TopicType"];
            /**
             * Format: int64
             * @description How many queues; 8 by default.
             */
            queues?: number;
            /**
             * Format: int64
             * @description How long messages are kept; 72 hours by default, 0 = for ever.
             */
            retention_ms?: number;
            /**
             * Format: int64
             * @description How much is kept per queue; 0 (the default) = no limit.
             */
            retention_bytes?: number;
            /**
             * Format: int64
             * @description The largest body; 4 MiB by default.
             */
            max_message_bytes?: number;
            /** @description Your own notes: up to 64, names up to 128 and values up to 4096 bytes. */
            attributes?: {
                [key: string]: string;
            };
        };
        /**
         * @description A topic.
         * @example {
         *       "topic": "orders",
         *       "type": "normal",
         *       "queues": 8,
         *       "epoch": 1,
         *       "retention_ms": 259200000,
         *       "retention_bytes": 0,
         *       "max_message_bytes": 4194304,
         *       "attributes": {
         *         "owner": "billing"
         *       },
         *       "created_at": "2026-12-01T08:00:00.000Z",
         *       "updated_at": "2026-12-01T08:00:00.000Z",
         *       "etag": "\"9e00-3\""
         *     }
         */
        Topic: {
            /** @description Its name. */
            topic: string;
            type: components["schemas"]["TopicType"];
            /**
             * Format: int64
             * @description How many queues it has.
             */
            queues: number;
            /**
             * Format: int64
             * @description Offsets name the same message for ever within an epoch.
             */
            epoch: number;
            /**
             * Format: int64
             * @description How long messages are kept; 0 = for ever.
             */
            retention_ms: number;
            /**
             * Format: int64
             * @description How much is kept per queue; 0 = no limit.
             */
            retention_bytes: number;
            /**
             * Format: int64
             * @description The largest body.
             */
            max_message_bytes: number;
            /** @description The owner's notes. */
            attributes: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updated_at: string;
            /** @description Its version; the same as the ETag header. */
            etag: string;
        };
        /**
         * @description A page of topics.
         * @example {
         *       "items": [
         *         {
         *           "topic": "orders",
         *           "type": "normal",
         *           "queues": 8,
         *           "epoch": 1,
         *           "retention_ms": 259200000,
         *           "retention_bytes": 0,
         *           "max_message_bytes": 4194304,
         *           "attributes": {},
         *           "created_at": "2026-12-01T08:00:00.000Z",
         *           "updated_at": "2026-12-01T08:00:00.000Z",
         *           "etag": "\"9e00-3\""
         *         }
         *       ],
         *       "next_page_token": "b3JkZXJz"
         *     }
         */
        TopicList: {
            /** @description The topics. */
            items: components["schemas"]["Topic"][];
            /** @description Give it as `page_token` for the next page; absent at the end. */
            next_page_token?: string;
        };
        /**
         * @description One queue of a topic.
         * @example {
         *       "queue": 3,
         *       "epoch": 1,
         *       "min_offset": 0,
         *       "next_offset": 42,
         *       "bytes": 16384,
         *       "last_stored_at": "2026-12-01T08:30:00.000Z",
         *       "writable": true
         *     }
         */
        Queue: {
            /**
             * Format: int64
             * @description Its number.
             */
            queue: number;
            /**
             * Format: int64
             * @description The topic's epoch.
             */
            epoch: number;
            /**
             * Format: int64
             * @description The first offset that is kept.
             */
            min_offset: number;
            /**
             * Format: int64
             * @description The offset that the next message will get.
             */
            next_offset: number;
            /**
             * Format: int64
             * @description The size of what is kept.
             */
            bytes: number;
            /**
             * Format: date-time
             * @description When its last message was stored; absent when it never had one.
             */
            last_stored_at?: string;
            /** @description Whether it takes new messages. */
            writable: boolean;
        };
        /**
         * @description The queues of a topic.
         * @example {
         *       "items": [
         *         {
         *           "queue": 0,
         *           "epoch": 1,
         *           "min_offset": 0,
         *           "next_offset": 42,
         *           "bytes": 16384,
         *           "writable": true
         *         }
         *       ]
         *     }
         */
        QueueList: {
            /** @description The queues by number. */
            items: components["schemas"]["Queue"][];
        };
        /**
         * @description An offset in a queue.
         * @example {
         *       "queue": 3,
         *       "offset": 42
         *     }
         */
        QueueOffset: {
            /**
             * Format: int64
             * @description The queue.
             */
            queue: number;
            /**
             * Format: int64
             * @description The offset.
             */
            offset: number;
        };
        /**
         * @description One offset per queue.
         * @example {
         *       "epoch": 1,
         *       "items": [
         *         {
         *           "queue": 0,
         *           "offset": 17
         *         },
         *         {
         *           "queue": 1,
         *           "offset": 21
         *         }
         *       ]
         *     }
         */
        OffsetList: {
            /**
             * Format: int64
             * @description The epoch that the offsets belong to.
             */
            epoch: number;
            /** @description The offsets by queue. */
            items: components["schemas"]["QueueOffset"][];
        };
        /**
         * @description The earliest message that is kept, or the end of the queue.
         * @example earliest
         * @enum {string}
         */
        Position: "earliest" | "latest";
        /**
         * @description How a body is written as a JSON string.
         * @example text
         * @enum {string}
         */
        Encoding: "text" | "base64";
        /**
         * @description When to answer: `durable` (the default) when the messages are stored, `none` once they are buffered.
         * @example durable
         * @enum {string}
         */
        Ack: "durable" | "none";
        /**
         * @description A message, and how long to wait for the reply to it.
         * @example {
         *       "message": {
         *         "body": "2+2"
         *       },
         *       "timeout_ms": 5000
         *     }
         */
        ReplyRequest: {
            message: components["schemas"]["NewMessage"];
            /**
             * Format: int64
             * @description How long to wait; 5000 when left out.
             */
            timeout_ms?: number;
        };
        /**
         * @description A reply to a request.
         * @example {
         *       "reply_to": "QWRkcmVzcw",
         *       "body": "4"
         *     }
         */
        NewReply: {
            /** @description The property `__reply_to` of the request's message. */
            reply_to: string;
            /** @description The body as `encoding` says, or `null`. The reply takes at most 256 KiB as JSON. */
            body: string | null;
            encoding?: components["schemas"]["Encoding"];
            /** @description What the body is. */
            content_type?: string;
            /** @description Properties of your own. */
            properties?: {
                [key: string]: string;
            };
        };
        /**
         * @description A reply to a request.
         * @example {
         *       "body": "4",
         *       "encoding": "text"
         *     }
         */
        Reply: {
            /** @description The body as `encoding` says. */
            body: string | null;
            encoding: components["schemas"]["Encoding"];
            /** @description What the replier called the body. */
            content_type?: string;
            /** @description Its properties. */
            properties?: {
                [key: string]: string;
            };
        };
        /**
         * @description The reply to a request, and where its message is.
         * @example {
         *       "message_id": "019ad8f4-5c2a-7c00-8000-3f2b6a1d9e00",
         *       "queue": 3,
         *       "offset": 42,
         *       "correlation_id": "019ad8f4-5c2a-7c00-8000-0000000000cc",
         *       "reply": {
         *         "body": "4",
         *         "encoding": "text"
         *       }
         *     }
         */
        RequestResult: {
            /** @description The id of the request's message. */
            message_id: string;
            /**
             * Format: int64
             * @description Its queue.
             */
            queue: number;
            /**
             * Format: int64
             * @description Its offset.
             */
            offset: number;
            /** @description Its property `__correlation_id`. */
            correlation_id: string;
            reply: components["schemas"]["Reply"];
        };
        /**
         * @description Messages to send.
         * @example {
         *       "messages": [
         *         {
         *           "body": "{\"order\":1001}",
         *           "tag": "paid",
         *           "keys": [
         *             "order-1001"
         *           ],
         *           "ordering_key": "customer-7"
         *         }
         *       ]
         *     }
         */
        SendRequest: {
            /** @description The messages; those of one queue keep their order. */
            messages: components["schemas"]["NewMessage"][];
            producer?: components["schemas"]["Producer"];
            ack?: components["schemas"]["Ack"];
            /**
             * Format: int64
             * @description Store only if this is the next offset of the queue, which every message names by `queue`; else 412 with the current
             *     one. So one of several writers that read the same state wins. The answer takes one more write to the store.
             *     Not together with a delay, a `producer` or `ack=none`; sent again with its `Idempotency-Key`, a request that
             *     was stored is answered as the first time.
             */
            if_next_offset?: number;
        };
        /**
         * @description The identity of a producer that numbers its requests, so that a request sent again is stored once. A new id or a higher
         *     epoch may begin at any `seq`; after that each request has the next one.
         * @example {
         *       "id": "billing-1",
         *       "epoch": 1,
         *       "seq": 17
         *     }
         */
        Producer: {
            /** @description The producer's name. */
            id: string;
            /**
             * Format: int64
             * @description Raise it with each start; a lower one is refused.
             */
            epoch: number;
            /**
             * Format: int64
             * @description The number of this request.
             */
            seq: number;
        };
        /**
         * @description A message to send.
         * @example {
         *       "body": "{\"order\":1001}",
         *       "tag": "paid",
         *       "keys": [
         *         "order-1001"
         *       ],
         *       "ordering_key": "customer-7",
         *       "properties": {
         *         "source": "web"
         *       }
         *     }
         */
        NewMessage: {
            /** @description The body as `encoding` says; `null` is a tombstone, which is not the same as an empty body. */
            body: string | null;
            encoding?: components["schemas"]["Encoding"];
            /** @description What the body is, for readers. It never changes how it is stored. */
            content_type?: string;
            /** @description One word to filter by, without blanks and `|`. */
            tag?: string;
            /** @description Business keys to find the message by, without blanks. */
            keys?: string[];
            /** @description Messages with the same key go to the same queue and keep their order. */
            ordering_key?: string;
            /**
             * Format: int64
             * @description The queue to store in, also when there is an `ordering_key`; in a fifo topic only the queue of that key.
             */
            queue?: number;
            /** @description Up to 128 names with text values, 32767 bytes together. Names that begin with `__` are the server's. */
            properties?: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When the message came to be; when it arrived if left out.
             */
            born_at?: string;
            /**
             * Format: int64
             * @description How long from now the message is delivered, by the server's clock: never before, and with an offset and a `stored_at`
             *     of then. At most one of `delay_ms`, `deliver_at` and `delay_level`, up to 40 days, in topics of type `delay` or `mixed`; 0 is no delay.
             */
            delay_ms?: number;
            /**
             * Format: date-time
             * @description When the message is delivered, to the millisecond; a time that is past is no delay.
             */
            deliver_at?: string;
            /**
             * Format: int64
             * @description The delay as a level: 1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h; 0 is no delay.
             */
            delay_level?: number;
        };
        /**
         * @description What became of the messages.
         * @example {
         *       "stored": 1,
         *       "failed": 0,
         *       "results": [
         *         {
         *           "index": 0,
         *           "status": "stored",
         *           "message_id": "019ad8f4-5c2a-7c00-8000-3f2b6a1d9e00",
         *           "queue": 3,
         *           "offset": 42
         *         }
         *       ]
         *     }
         */
        SendResult: {
            /**
             * Format: int64
             * @description How many are stored.
             */
            stored: number;
            /**
             * Format: int64
             * @description How many are not.
             */
            failed: number;
            /** @description One per message, in the order of the request. */
            results: components["schemas"]["SendOutcome"][];
        };
        /**
         * @description `stored` = durable, `accepted` = buffered with `ack: none`, `failed` = not stored.
         * @example stored
         * @enum {string}
         */
        SendStatus: "stored" | "accepted" | "failed";
        /**
         * @description What became of one message.
         * @example {
         *       "index": 0,
         *       "status": "stored",
         *       "message_id": "019ad8f4-5c2a-7c00-8000-3f2b6a1d9e00",
         *       "queue": 3,
         *       "offset": 42
         *     }
         */
        SendOutcome: {
            /**
             * Format: int64
             * @description The message's place in the request.
             */
            index: number;
            status: components["schemas"]["SendStatus"];
            /** @description Its id. */
            message_id?: string;
            /**
             * Format: int64
             * @description Where it is stored.
             */
            queue?: number;
            /**
             * Format: int64
             * @description Its offset there.
             */
            offset?: number;
            /** @description It was stored by an earlier request of this producer; ids and offsets are of then and absent when that is too long ago. */
            duplicate?: boolean;
            /** @description Of a delayed message, which has no offset yet: what recallMessage takes. */
            recall_handle?: string;
            error?: components["schemas"]["Problem"];
        };
        /**
         * @description A stored message.
         * @example {
         *       "message_id": "019ad8f4-5c2a-7c00-8000-3f2b6a1d9e00",
         *       "queue": 3,
         *       "offset": 42,
         *       "body": "{\"order\":1001}",
         *       "encoding": "text",
         *       "tag": "paid",
         *       "keys": [
         *         "order-1001"
         *       ],
         *       "ordering_key": "customer-7",
         *       "properties": {
         *         "source": "web"
         *       },
         *       "born_at": "2026-12-01T08:30:00.000Z",
         *       "stored_at": "2026-12-01T08:30:00.120Z"
         *     }
         */
        Message: {
            /** @description Its id. */
            message_id: string;
            /** @description Its topic, where an answer may have several. */
            topic?: string;
            /**
             * Format: int64
             * @description Its queue.
             */
            queue: number;
            /**
             * Format: int64
             * @description Its offset.
             */
            offset: number;
            /** @description The body as `encoding` says; `null` is a tombstone. */
            body: string | null;
            encoding: components["schemas"]["Encoding"];
            /** @description What the producer called the body. */
            content_type?: string;
            /** @description Its tag. */
            tag?: string;
            /** @description Its business keys. */
            keys?: string[];
            /** @description Its ordering key. */
            ordering_key?: string;
            /** @description Its properties. */
            properties?: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When it came to be.
             */
            born_at: string;
            /**
             * Format: date-time
             * @description When it was stored; never decreasing within a queue.
             */
            stored_at: string;
            /** @description Of a receive: names this delivery to `ackMessages`, `nackMessages` and `extendMessages`. */
            receipt?: string;
            /**
             * Format: int64
             * @description Of a receive: how often the message was delivered, this time included.
             */
            attempt?: number;
            /**
             * Format: date-time
             * @description Of a receive: until when it is hidden from others.
             */
            deadline?: string;
            origin?: components["schemas"]["MessageOrigin"];
        };
        /**
         * @description Of a poll, of a message that comes again through the group's retry topic: `topic`, `queue` and `offset` of the message name its place there, to be committed; this is where it comes from.
         * @example {
         *       "topic": "orders",
         *       "queue": 3,
         *       "offset": 42,
         *       "attempts": 1,
         *       "reason": "nacked"
         *     }
         */
        MessageOrigin: {
            /** @description The topic it was sent to. */
            topic: string;
            /**
             * Format: int64
             * @description Its queue there.
             */
            queue: number;
            /**
             * Format: int64
             * @description Its offset there.
             */
            offset: number;
            /**
             * Format: int64
             * @description How often it was delivered before.
             */
            attempts: number;
            /** @description Why the last delivery failed. */
            reason: string;
        };
        /**
         * @description A message whose delivery to a group failed. `message` is as it was where it was sent to: its id, queue and offset are those of there.
         * @example {
         *       "state": "dead",
         *       "at": "2026-12-01T08:30:00.120Z",
         *       "attempts": 16,
         *       "reason": "nacked",
         *       "topic": "orders",
         *       "number": 0,
         *       "message": {
         *         "message_id": "019ad8f4-5c2a-7c00-8000-3f2b6a1d9e00",
         *         "topic": "orders",
         *         "queue": 3,
         *         "offset": 42,
         *         "body": "hello",
         *         "encoding": "text",
         *         "born_at": "2026-12-01T08:30:00.000Z",
         *         "stored_at": "2026-12-01T08:30:00.120Z"
         *       }
         *     }
         */
        FailedMessage: {
            /** @description `waiting` and `due` of a retry, `dead` of a dead letter. */
            state: string;
            /**
             * Format: date-time
             * @description When a retry comes again or came due; when a dead letter became one.
             */
            at: string;
            /**
             * Format: int64
             * @description How often it was delivered.
             */
            attempts: number;
            /** @description Why the last delivery failed: what the client said, or `nacked`, `expired`, `redriven`. */
            reason: string;
            /** @description The topic it was sent to. */
            topic: string;
            /**
             * Format: int64
             * @description Its place among the dead letters of the group. Absent of a retry.
             */
            number?: number;
            message: components["schemas"]["Message"];
        };
        /**
         * @description A page of messages whose delivery failed.
         * @example {
         *       "items": []
         *     }
         */
        FailedMessageList: {
            /** @description The messages. */
            items: components["schemas"]["FailedMessage"][];
            /** @description Where the next page begins; absent on the last. A page may be empty and have it. */
            next_page_token?: string;
        };
        /**
         * @description Which dead letters; all when nothing is given.
         * @example {
         *       "topic": "orders",
         *       "reason": "nacked"
         *     }
         */
        DeadLetterSelection: {
            /** @description The topic they were sent to. */
            topic?: string;
            /** @description Their reason. */
            reason?: string;
            /** @description The id of the message. */
            message_id?: string;
            /**
             * Format: date-time
             * @description Not before this time.
             */
            from?: string;
            /**
             * Format: date-time
             * @description Before this time.
             */
            to?: string;
            /**
             * Format: int64
             * @description At most so many; 1000 when left out.
             */
            limit?: number;
            /** @description The `next_page_token` of the call before. */
            page_token?: string;
            /** @description Only count them. */
            dry_run?: boolean;
        };
        /**
         * @description Which dead letters are to be delivered once more; all when nothing is given.
         * @example {
         *       "topic": "orders",
         *       "rate": 100
         *     }
         */
        RedriveRequest: {
            /** @description The topic they were sent to. */
            topic?: string;
            /** @description Their reason. */
            reason?: string;
            /** @description The id of the message. */
            message_id?: string;
            /**
             * Format: date-time
             * @description Not before this time.
             */
            from?: string;
            /**
             * Format: date-time
             * @description Before this time.
             */
            to?: string;
            /**
             * Format: int64
             * @description At most so many; 1000 when left out.
             */
            limit?: number;
            /** @description The `next_page_token` of the call before. */
            page_token?: string;
            /**
             * Format: int64
             * @description Messages per second; all at once when left out.
             */
            rate?: number;
            /** @description Only count them. */
            dry_run?: boolean;
        };
        /**
         * @description What a call did with dead letters.
         * @example {
         *       "matched": 3,
         *       "done": 3,
         *       "dry_run": false
         *     }
         */
        HandledDeadLetters: {
            /**
             * Format: int64
             * @description How many it picked.
             */
            matched: number;
            /**
             * Format: int64
             * @description How many of them are handled; 0 of a dry run.
             */
            done: number;
            /** @description Nothing was done. */
            dry_run: boolean;
            /** @description It was bounded, and there may be more: give this to the next call. Absent at the end. */
            next_page_token?: string;
        };
        /**
         * @description `found` = there are messages, `no_new` = nothing there yet, `no_match` = what was examined did not match.
         * @example found
         * @enum {string}
         */
        ReadStatus: "found" | "no_new" | "no_match";
        /**
         * @description Messages of a queue.
         * @example {
         *       "status": "no_new",
         *       "messages": [],
         *       "next_offset": 42,
         *       "min_offset": 0,
         *       "max_offset": 42,
         *       "epoch": 1
         *     }
         */
        MessagePage: {
            status: components["schemas"]["ReadStatus"];
            /** @description The messages by offset. */
            messages: components["schemas"]["Message"][];
            /**
             * Format: int64
             * @description Where to continue.
             */
            next_offset: number;
            /**
             * Format: int64
             * @description The first offset that is kept.
             */
            min_offset: number;
            /**
             * Format: int64
             * @description The offset after the last message of the queue.
             */
            max_offset: number;
            /**
             * Format: int64
             * @description The topic's epoch.
             */
            epoch: number;
        };
        /**
         * @description Messages that a search found.
         * @example {
         *       "items": [],
         *       "scanned_until": "2026-12-01T08:45:00.000Z",
         *       "next_page_token": "eyJxIjozLCJvIjo0Mn0"
         *     }
         */
        SearchResult: {
            /** @description The messages. */
            items: components["schemas"]["Message"][];
            /** @description Stretches that could not be examined; absent when there are none. */
            gaps?: components["schemas"]["Gap"][];
            /**
             * Format: date-time
             * @description Everything stored before this time was examined.
             */
            scanned_until?: string;
            /** @description Give it as `page_token` to go on; absent at the end. */
            next_page_token?: string;
        };
        /**
         * @description Messages that a stream did not carry or a search did not examine.
         * @example {
         *       "queue": 3,
         *       "from": 10,
         *       "to": 20,
         *       "reason": "trimmed"
         *     }
         */
        Gap: {
            /** @description The topic, where a stream may have several. */
            topic?: string;
            /**
             * Format: int64
             * @description The queue.
             */
            queue: number;
            /**
             * Format: int64
             * @description The first offset that is missing.
             */
            from: number;
            /**
             * Format: int64
             * @description The first offset after them.
             */
            to: number;
            /** @description Why: `trimmed`, `corrupt`, `epoch_changed`, `beyond_end` or one that is new. */
            reason: string;
        };
        /**
         * @description Who gets a message: `clustering` = one member, `broadcasting` = every member.
         * @example clustering
         * @enum {string}
         */
        GroupMode: "clustering" | "broadcasting";
        /**
         * @description Where a group starts in a topic that is new to it: at the `first` message that is kept, behind the `last` one at that moment, or at the first one stored at or after a `timestamp`.
         * @example last
         * @enum {string}
         */
        ConsumeFrom: "first" | "last" | "timestamp";
        /**
         * @description `monotonic`: offsets are committed forward only. `overwrite`: anywhere, as RocketMQ does.
         * @example monotonic
         * @enum {string}
         */
        CommitPolicy: "monotonic" | "overwrite";
        /**
         * @description The name of a queue.
         * @example {
         *       "topic": "orders",
         *       "queue": 3
         *     }
         */
        QueueRef: {
            /** @description Its topic. */
            topic: string;
            /**
             * Format: int64
             * @description Its number.
             */
            queue: number;
        };
        /**
         * @description What some strategies need.
         * @example {
         *       "virtual_nodes": 10
         *     }
         */
        StrategyConfig: {
            /**
             * Format: int64
             * @description `consistent_hash`: points of a member on the ring; 0 = 10.
             */
            virtual_nodes?: number;
            /** @description `by_machine_room`: the rooms that are consumed. */
            rooms?: string[];
            /** @description `machine_room_nearby`: the strategy inside a room; `averagely` when left out. */
            inner?: string;
            /** @description `by_config`: client id → its queues. */
            queues?: {
                [key: string]: components["schemas"]["QueueRef"][];
            };
            /** @description The room strategies: topic → the room of each of its queues. */
            topic_rooms?: {
                [key: string]: string[];
            };
        };
        /**
         * @description How messages come again that were given back without a delay, or were not acknowledged in time.
         * @example {
         *       "delays_ms": [
         *         10000,
         *         30000,
         *         60000
         *       ],
         *       "max_attempts": 16
         *     }
         */
        RetryPolicy: {
            /** @description The wait before the second, third, … delivery; the last one repeats. 10 s, 30 s, 1 min, 2 min … 2 h by default. */
            delays_ms?: number[];
            exponential?: components["schemas"]["ExponentialDelays"];
            /**
             * Format: int64
             * @description After so many deliveries that failed a message is a dead letter; 16 by default. 0 = any number.
             */
            max_attempts?: number;
        };
        /**
         * @description Waits that grow, in place of `delays_ms`; giving `delays_ms` ends them.
         * @example {
         *       "initial_ms": 5000,
         *       "max_ms": 7200000,
         *       "multiplier": 2
         *     }
         */
        ExponentialDelays: {
            /**
             * Format: int64
             * @description The wait before the second delivery.
             */
            initial_ms: number;
            /**
             * Format: int64
             * @description No wait is longer; at least `initial_ms`.
             */
            max_ms: number;
            /**
             * Format: double
             * @description Each wait is so many times the one before.
             */
            multiplier: number;
        };
        /**
         * @description What can be set of a group.
         * @example {
         *       "mode": "clustering",
         *       "strategy": "averagely",
         *       "consume_from": "first",
         *       "attributes": {
         *         "owner": "billing"
         *       }
         *     }
         */
        GroupSettings: {
            mode?: components["schemas"]["GroupMode"];
            /** @description How queues are dealt out: `averagely` (the default), `averagely_by_circle`, `consistent_hash`, `by_config`, `by_machine_room`, `machine_room_nearby`, `circle_all_topics`. */
            strategy?: string;
            strategy_config?: components["schemas"]["StrategyConfig"];
            consume_from?: components["schemas"]["ConsumeFrom"];
            /**
             * Format: date-time
             * @description The time for `consume_from: timestamp`, which needs it.
             */
            consume_timestamp?: string;
            /** @description Messages of a queue are handled one batch after another; false by default. */
            ordered?: boolean;
            /**
             * Format: int64
             * @description How long a message that was received is hidden; 60 s by default.
             */
            invisible_ms?: number;
            /**
             * Format: int64
             * @description A member that is silent for longer is removed; 120 s by default.
             */
            session_timeout_ms?: number;
            /**
             * Format: int64
             * @description How long a member whose WebSocket broke may come back without a change for others; 10 s by default.
             */
            resume_window_ms?: number;
            /**
             * Format: int64
             * @description How long an owner may take to give a queue back; 15 s by default.
             */
            revoke_timeout_ms?: number;
            commit_policy?: components["schemas"]["CommitPolicy"];
            /**
             * Format: int64
             * @description How many members get queues; more stand by. 0 (the default) = any number.
             */
            max_members?: number;
            /** @description Only clients from these addresses or networks may join; all when empty. */
            allow_ips?: string[];
            /** @description Clients from these addresses or networks may not join; this comes first. */
            deny_ips?: string[];
            retry?: components["schemas"]["RetryPolicy"];
            /** @description Your own notes: up to 64, of together up to 4096 bytes. */
            attributes?: {
                [key: string]: string;
            };
        };
        /**
         * @description A consumer group.
         * @example {
         *       "group": "billing",
         *       "group_id": "019ad8f4-0000-7000-8000-0000000000aa",
         *       "mode": "clustering",
         *       "strategy": "averagely",
         *       "strategy_config": {},
         *       "consume_from": "last",
         *       "ordered": false,
         *       "invisible_ms": 60000,
         *       "session_timeout_ms": 120000,
         *       "resume_window_ms": 10000,
         *       "revoke_timeout_ms": 15000,
         *       "commit_policy": "monotonic",
         *       "max_members": 0,
         *       "allow_ips": [],
         *       "deny_ips": [],
         *       "retry": {
         *         "delays_ms": [
         *           10000,
         *           30000,
         *           60000
         *         ]
         *       },
         *       "attributes": {
         *         "owner": "billing"
         *       },
         *       "created_at": "2026-12-01T08:00:00.000Z",
         *       "updated_at": "2026-12-01T08:00:00.000Z",
         *       "etag": "\"9e00-3\""
         *     }
         */
        Group: {
            /** @description Its name. */
            group: string;
            /** @description Its id; another group of the same name later has another one. */
            group_id: string;
            mode: components["schemas"]["GroupMode"];
            /** @description How queues are dealt out. */
            strategy: string;
            strategy_config: components["schemas"]["StrategyConfig"];
            consume_from: components["schemas"]["ConsumeFrom"];
            /**
             * Format: date-time
             * @description The time for `consume_from: timestamp`; absent otherwise.
             */
            consume_timestamp?: string;
            /** @description Messages of a queue are handled one batch after another. */
            ordered: boolean;
            /**
             * Format: int64
             * @description How long a message that was received is hidden.
             */
            invisible_ms: number;
            /**
             * Format: int64
             * @description A member that is silent for longer is removed.
             */
            session_timeout_ms: number;
            /**
             * Format: int64
             * @description How long a member whose WebSocket broke may come back.
             */
            resume_window_ms: number;
            /**
             * Format: int64
             * @description How long an owner may take to give a queue back.
             */
            revoke_timeout_ms: number;
            commit_policy: components["schemas"]["CommitPolicy"];
            /**
             * Format: int64
             * @description How many members get queues; 0 = any number.
             */
            max_members: number;
            /** @description Only clients from here may join; all when empty. */
            allow_ips: string[];
            /** @description Clients from here may not join. */
            deny_ips: string[];
            retry: components["schemas"]["RetryPolicy"];
            /** @description The owner's notes. */
            attributes: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When it was created.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updated_at: string;
            /** @description Its version; the same as the ETag header. */
            etag: string;
        };
        /**
         * @description A page of groups.
         * @example {
         *       "items": [
         *         {
         *           "group": "billing",
         *           "group_id": "019ad8f4-0000-7000-8000-0000000000aa",
         *           "mode": "clustering",
         *           "strategy": "averagely",
         *           "strategy_config": {},
         *           "consume_from": "last",
         *           "ordered": false,
         *           "invisible_ms": 60000,
         *           "session_timeout_ms": 120000,
         *           "resume_window_ms": 10000,
         *           "revoke_timeout_ms": 15000,
         *           "commit_policy": "monotonic",
         *           "max_members": 0,
         *           "allow_ips": [],
         *           "deny_ips": [],
         *           "retry": {
         *             "delays_ms": [
         *               10000,
         *               30000,
         *               60000
         *             ]
         *           },
         *           "attributes": {
         *             "owner": "billing"
         *           },
         *           "created_at": "2026-12-01T08:00:00.000Z",
         *           "updated_at": "2026-12-01T08:00:00.000Z",
         *           "etag": "\"9e00-3\""
         *         }
         *       ],
         *       "next_page_token": "YmlsbGluZw"
         *     }
         */
        GroupList: {
            /** @description The groups. */
            items: components["schemas"]["Group"][];
            /** @description Give it as `page_token` for the next page; absent at the end. */
            next_page_token?: string;
        };
        /**
         * @description A topic, and which of its messages; all when neither `tags` nor `sql` is given.
         * @example {
         *       "topic": "orders",
         *       "tags": "paid || refunded"
         *     }
         */
        TopicFilter: {
            /** @description The topic. */
            topic: string;
            /** @description Only messages with one of these tags: `paid || refunded`. `*` = all. */
            tags?: string;
            /** @description Only messages whose properties meet this SQL92 condition: `amount > 100 AND region = 'eu'`. Not together with `tags`. */
            sql?: string;
        };
        /**
         * @description A topic that members of a group consume, and which of its messages; all when neither `tags` nor `sql` is given.
         * @example {
         *       "topic": "orders",
         *       "tags": "paid || refunded"
         *     }
         */
        Subscription: {
            /** @description The topic. */
            topic: string;
            /** @description Only messages with one of these tags: `paid || refunded`. `*` = all. */
            tags?: string;
            /** @description Only messages whose properties meet this SQL92 condition: `amount > 100 AND region = 'eu'`. Not together with `tags`. */
            sql?: string;
            /** @description Assign mode: the member has exactly these queues. Give them in every subscription or in none. */
            queues?: number[];
        };
        /**
         * @description What can be set of a group in one topic, also while its members run.
         * @example {
         *       "concurrency": 8,
         *       "pull_batch": 32,
         *       "delay_ms": 0
         *     }
         */
        SubscriptionSettings: {
            /**
             * Format: int64
             * @description Handlers that an SDK runs at a time; 0 = what its program says.
             */
            concurrency?: number;
            /**
             * Format: int64
             * @description Messages that are fetched at a time; 0 = 32.
             */
            pull_batch?: number;
            /**
             * Format: int64
             * @description Messages that a client hands to its handler at a time, where it can; 0 = what its program says.
             */
            consume_batch?: number;
            /**
             * Format: int64
             * @description A message is delivered this long after it was stored at the earliest; 0 by default.
             */
            delay_ms?: number;
            /**
             * Format: int64
             * @description How often an SDK tries a message again; 0 = what its program says.
             */
            retry_count?: number;
            /** @description Narrows what members subscribe: `paid || refunded`. Empty (the default) or `*` does not. */
            tags?: string;
            /**
             * Format: int64
             * @description How long a handler of an SDK may take; 0 (the default) = any time.
             */
            timeout_ms?: number;
            /**
             * Format: int64
             * @description Messages behind above which the lag of a queue is reported as too large, by `lag_exceeded` and a metric; 0 (the default) = never.
             */
            max_lag?: number;
            /**
             * Format: int64
             * @description Messages of a queue that may be in flight; 0 = 1000.
             */
            pull_threshold_for_queue?: number;
            /**
             * Format: int64
             * @description Bytes of bodies of a queue that may be in flight; 0 = 100 MiB.
             */
            pull_threshold_size_for_queue?: number;
            /**
             * Format: int64
             * @description Offsets between the first and the last message of a queue in flight; 0 = 2000.
             */
            consume_max_span?: number;
        };
        /**
         * @description A topic that a group consumes, and its live settings there.
         * @example {
         *       "topic": "orders",
         *       "subscribed": true,
         *       "subscription": {
         *         "topic": "orders",
         *         "tags": "paid"
         *       },
         *       "concurrency": 8,
         *       "pull_batch": 32,
         *       "consume_batch": 1,
         *       "delay_ms": 0,
         *       "retry_count": 3,
         *       "tags": "",
         *       "timeout_ms": 0,
         *       "max_lag": 10000,
         *       "pull_threshold_for_queue": 1000,
         *       "pull_threshold_size_for_queue": 104857600,
         *       "consume_max_span": 2000,
         *       "updated_at": "2026-12-01T08:00:00.000Z",
         *       "etag": "\"9e00-s2\""
         *     }
         */
        GroupSubscription: {
            /** @description The topic. */
            topic: string;
            /** @description Members subscribe to it now, or did last. */
            subscribed: boolean;
            subscription?: components["schemas"]["Subscription"];
            /**
             * Format: int64
             * @description Handlers that an SDK runs at a time; 0 = what its program says.
             */
            concurrency: number;
            /**
             * Format: int64
             * @description Messages that are fetched at a time; 0 = 32.
             */
            pull_batch: number;
            /**
             * Format: int64
             * @description Messages that a client hands to its handler at a time, where it can; 0 = what its program says.
             */
            consume_batch: number;
            /**
             * Format: int64
             * @description A message is delivered this long after it was stored at the earliest.
             */
            delay_ms: number;
            /**
             * Format: int64
             * @description How often an SDK tries a message again; 0 = what its program says.
             */
            retry_count: number;
            /** @description Narrows what members subscribe; empty = does not. */
            tags: string;
            /**
             * Format: int64
             * @description How long a handler of an SDK may take; 0 = any time.
             */
            timeout_ms: number;
            /**
             * Format: int64
             * @description Messages behind above which the lag is reported as too large; 0 = never.
             */
            max_lag: number;
            /**
             * Format: int64
             * @description Messages of a queue that may be in flight; 0 = 1000.
             */
            pull_threshold_for_queue: number;
            /**
             * Format: int64
             * @description Bytes of bodies of a queue that may be in flight; 0 = 100 MiB.
             */
            pull_threshold_size_for_queue: number;
            /**
             * Format: int64
             * @description Offsets between the first and the last message of a queue in flight; 0 = 2000.
             */
            consume_max_span: number;
            /**
             * Format: date-time
             * @description When the settings were last changed; absent when they never were.
             */
            updated_at?: string;
            /** @description Their version; the same as the ETag header. */
            etag: string;
        };
        /**
         * @description The topics of a group.
         * @example {
         *       "items": [
         *         {
         *           "topic": "orders",
         *           "subscribed": true,
         *           "subscription": {
         *             "topic": "orders",
         *             "tags": "paid"
         *           },
         *           "concurrency": 8,
         *           "pull_batch": 32,
         *           "consume_batch": 1,
         *           "delay_ms": 0,
         *           "retry_count": 3,
         *           "tags": "",
         *           "timeout_ms": 0,
         *           "max_lag": 10000,
         *           "pull_threshold_for_queue": 1000,
         *           "pull_threshold_size_for_queue": 104857600,
         *           "consume_max_span": 2000,
         *           "updated_at": "2026-12-01T08:00:00.000Z",
         *           "etag": "\"9e00-s2\""
         *         }
         *       ]
         *     }
         */
        GroupSubscriptionList: {
            /** @description The topics by name. */
            items: components["schemas"]["GroupSubscription"][];
        };
        /**
         * @description Who joins, and for what.
         * @example {
         *       "client_id": "billing-7f9c",
         *       "subscriptions": [
         *         {
         *           "topic": "orders",
         *           "tags": "paid"
         *         }
         *       ]
         *     }
         */
        JoinRequest: {
            /** @description Your name for this client, of visible ASCII; the server makes one when it is left out. */
            client_id?: string;
            /** @description A secret of this session, of visible ASCII: with it the same client is the same member again. */
            session_key?: string;
            /** @description What the member consumes; the same as the other members of the group. */
            subscriptions: components["schemas"]["Subscription"][];
            /**
             * Format: int64
             * @description The member is removed when it is silent for longer; the group's when left out.
             */
            session_timeout_ms?: number;
            /** @description The room that the client is in, for the room strategies. */
            room?: string;
        };
        /**
         * @description A queue of a member, and the group's progress in it.
         * @example {
         *       "topic": "orders",
         *       "queue": 3,
         *       "offset": 42,
         *       "version": 1,
         *       "assignment_epoch": 7,
         *       "stopped": false
         *     }
         */
        OwnedQueue: {
            /** @description Its topic. */
            topic: string;
            /**
             * Format: int64
             * @description Its number.
             */
            queue: number;
            /**
             * Format: int64
             * @description The next offset to consume as it is committed.
             */
            offset: number;
            /**
             * Format: int64
             * @description The offset's version; commits must name it.
             */
            version: number;
            /**
             * Format: int64
             * @description Since which generation it is the member's; commits must name it. 0 in assign mode and when broadcasting.
             */
            assignment_epoch: number;
            /** @description The group does not consume it now. */
            stopped: boolean;
            /**
             * Format: date-time
             * @description Of a queue that is being revoked: until when the member has it.
             */
            deadline?: string;
        };
        /**
         * @description A new member, or the same one again.
         * @example {
         *       "member_id": "019ad8f4-6a10-7b00-8000-00000000c1d2",
         *       "client_id": "billing-7f9c",
         *       "kind": "queue",
         *       "generation": 7,
         *       "standby": false,
         *       "ordered": false,
         *       "reattached": false,
         *       "heartbeat_ms": 30000,
         *       "session_timeout_ms": 120000,
         *       "assignments": [
         *         {
         *           "topic": "orders",
         *           "queue": 3,
         *           "offset": 42,
         *           "version": 1,
         *           "assignment_epoch": 7,
         *           "stopped": false
         *         }
         *       ],
         *       "revoking": [],
         *       "settings": []
         *     }
         */
        Membership: {
            /** @description The member's id; keep it for the calls that follow. */
            member_id: string;
            /** @description The client's name. */
            client_id: string;
            /** @description `queue`, `assign` or `broadcast`. */
            kind: string;
            /**
             * Format: int64
             * @description The group's last assignment decision. Queues of a new member come with a later one.
             */
            generation: number;
            /** @description The group has enough members; this one gets queues when another leaves. */
            standby: boolean;
            /** @description The group is ordered. */
            ordered: boolean;
            /** @description It is the same member as before. */
            reattached: boolean;
            /** @description The member of the same client that this one replaced. */
            fenced_member_id?: string;
            /**
             * Format: int64
             * @description Call a heartbeat or poll at least this often.
             */
            heartbeat_ms: number;
            /**
             * Format: int64
             * @description The member is removed when it is silent for longer.
             */
            session_timeout_ms: number;
            /** @description The member's queues. */
            assignments: components["schemas"]["OwnedQueue"][];
            /** @description The member's queues that it is to give back. */
            revoking: components["schemas"]["OwnedQueue"][];
            /** @description The live settings of each topic that has some. */
            settings: components["schemas"]["GroupSubscription"][];
        };
        /**
         * @description A member of a group.
         * @example {
         *       "member_id": "019ad8f4-6a10-7b00-8000-00000000c1d2",
         *       "client_id": "billing-7f9c",
         *       "kind": "queue",
         *       "transport": "http",
         *       "address": "10.0.0.7",
         *       "subscriptions": [
         *         {
         *           "topic": "orders",
         *           "tags": "paid"
         *         }
         *       ],
         *       "standby": false,
         *       "joined_at": "2026-12-01T08:30:00.000Z",
         *       "last_heartbeat_at": "2026-12-01T08:31:00.000Z",
         *       "expires_at": "2026-12-01T08:33:00.000Z"
         *     }
         */
        Member: {
            /** @description Its id. */
            member_id: string;
            /** @description The client's name. */
            client_id: string;
            /** @description `queue`, `assign` or `broadcast`. */
            kind: string;
            /** @description `http` or `websocket`. */
            transport: string;
            /** @description From where it joined. */
            address: string;
            /** @description The room that it is in. */
            room?: string;
            /** @description What it consumes. */
            subscriptions: components["schemas"]["Subscription"][];
            /** @description The group has enough members; this one gets queues when another leaves. */
            standby: boolean;
            /**
             * Format: date-time
             * @description When it joined.
             */
            joined_at: string;
            /**
             * Format: date-time
             * @description When it was last heard of.
             */
            last_heartbeat_at: string;
            /**
             * Format: date-time
             * @description It is removed if nothing is heard of it until then.
             */
            expires_at: string;
        };
        /**
         * @description A client that wanted to join with other subscriptions than the members.
         * @example {
         *       "client_id": "billing-old",
         *       "address": "10.0.0.9",
         *       "subscriptions": [
         *         {
         *           "topic": "orders"
         *         }
         *       ],
         *       "refused_at": "2026-12-01T08:30:00.000Z"
         *     }
         */
        RefusedJoin: {
            /** @description The client's name. */
            client_id: string;
            /** @description From where it came. */
            address: string;
            /** @description What it wanted to consume. */
            subscriptions: components["schemas"]["Subscription"][];
            /**
             * Format: date-time
             * @description When it was refused.
             */
            refused_at: string;
        };
        /**
         * @description The members of a group.
         * @example {
         *       "items": [],
         *       "refused": [],
         *       "generation": 7
         *     }
         */
        MemberList: {
            /** @description The members by id. */
            items: components["schemas"]["Member"][];
            /** @description The last clients that were refused because they subscribe otherwise, newest first. */
            refused: components["schemas"]["RefusedJoin"][];
            /**
             * Format: int64
             * @description The group's last assignment decision.
             */
            generation: number;
        };
        /**
         * @description A sign of life.
         * @example {
         *       "generation": 7,
         *       "wait_ms": 20000
         *     }
         */
        HeartbeatRequest: {
            /**
             * Format: int64
             * @description The last generation that the member knows.
             */
            generation: number;
            /** @description Queues to give back; only those that are being revoked are. */
            released?: components["schemas"]["QueueRef"][];
            /**
             * Format: int64
             * @description How long to hold the request while nothing has changed. More than `limits.wait_ms` counts as that: the answer tells.
             */
            wait_ms?: number;
        };
        /**
         * @description What a member has now.
         * @example {
         *       "generation": 8,
         *       "standby": false,
         *       "assignments": [
         *         {
         *           "topic": "orders",
         *           "queue": 3,
         *           "offset": 42,
         *           "version": 1,
         *           "assignment_epoch": 7,
         *           "stopped": false
         *         }
         *       ],
         *       "revoking": [],
         *       "settings": [],
         *       "wait_ms": 20000
         *     }
         */
        HeartbeatResult: {
            /**
             * Format: int64
             * @description The group's last assignment decision.
             */
            generation: number;
            /** @description The group has enough members; this one gets queues when another leaves. */
            standby: boolean;
            /** @description The member's queues. */
            assignments: components["schemas"]["OwnedQueue"][];
            /** @description The member's queues that it is to give back. */
            revoking: components["schemas"]["OwnedQueue"][];
            /** @description The live settings of each topic that has some. */
            settings: components["schemas"]["GroupSubscription"][];
            /**
             * Format: int64
             * @description How long the request might have been held at most.
             */
            wait_ms: number;
        };
        /**
         * @description What to deliver.
         * @example {
         *       "cursor": "Q2FmZQ",
         *       "auto_commit": true,
         *       "max_messages": 100,
         *       "wait_ms": 20000
         *     }
         */
        PollRequest: {
            /** @description The `cursor` of the poll before. */
            cursor?: string;
            /** @description Commit what the cursor covers; true by default. */
            auto_commit?: boolean;
            /**
             * Format: int64
             * @description At most so many; 100 by default.
             */
            max_messages?: number;
            /**
             * Format: int64
             * @description Stop before a message that would bring the bodies above this size; 1 MiB by default.
             */
            max_bytes?: number;
            /**
             * Format: int64
             * @description How long to hold the request while there is nothing to deliver. More than `limits.wait_ms` counts as that: the answer tells.
             */
            wait_ms?: number;
        };
        /**
         * @description Messages of a member's queues.
         * @example {
         *       "messages": [],
         *       "cursor": "Q2FmZQ",
         *       "generation": 7,
         *       "rebalancing": false,
         *       "queues": [],
         *       "gaps": [],
         *       "wait_ms": 20000
         *     }
         */
        PollResult: {
            /** @description The messages; those of one queue by offset. */
            messages: components["schemas"]["Message"][];
            /** @description Give it to the next poll. */
            cursor: string;
            /**
             * Format: int64
             * @description The group's last assignment decision.
             */
            generation: number;
            /** @description Queues are changing hands; poll again at once. */
            rebalancing: boolean;
            /** @description All queues that the member has, with what `commitOffsets` needs. */
            queues: components["schemas"]["OwnedQueue"][];
            /** @description Messages that cannot be delivered any more. */
            gaps: components["schemas"]["Gap"][];
            /**
             * Format: int64
             * @description How long the request might have been held at most.
             */
            wait_ms: number;
        };
        /**
         * @description Where to: the `earliest` message that is kept, the end (`latest`), the first message stored at or after a `timestamp`, or an `offset`.
         * @example offset
         * @enum {string}
         */
        SeekTarget: "earliest" | "latest" | "timestamp" | "offset";
        /**
         * @description Where to move a queue.
         * @example {
         *       "topic": "orders",
         *       "queue": 3,
         *       "to": "offset",
         *       "offset": 17
         *     }
         */
        SeekRequest: {
            /** @description The topic. */
            topic: string;
            /**
             * Format: int64
             * @description The queue.
             */
            queue: number;
            to: components["schemas"]["SeekTarget"];
            /**
             * Format: date-time
             * @description For `to: timestamp`.
             */
            timestamp?: string;
            /**
             * Format: int64
             * @description For `to: offset`.
             */
            offset?: number;
        };
        /**
         * @description A group's progress in a queue before and after it was moved.
         * @example {
         *       "topic": "orders",
         *       "queue": 3,
         *       "old_offset": 42,
         *       "old_version": 1,
         *       "new_offset": 17,
         *       "new_version": 2
         *     }
         */
        OffsetChange: {
            /** @description The topic. */
            topic: string;
            /**
             * Format: int64
             * @description The queue.
             */
            queue: number;
            /**
             * Format: int64
             * @description The next offset to consume before; null when there was none.
             */
            old_offset: number | null;
            /**
             * Format: int64
             * @description Its version before; 0 when there was none.
             */
            old_version: number;
            /**
             * Format: int64
             * @description The next offset to consume.
             */
            new_offset: number;
            /**
             * Format: int64
             * @description Its version now.
             */
            new_version: number;
        };
        /**
         * @description Whose a queue is.
         * @example {
         *       "topic": "orders",
         *       "queue": 3,
         *       "state": "owned",
         *       "member_id": "019ad8f4-6a10-7b00-8000-00000000c1d2",
         *       "client_id": "billing-7f9c",
         *       "assignment_epoch": 7,
         *       "assigned_at": "2026-12-01T08:30:00.000Z"
         *     }
         */
        QueueAssignment: {
            /** @description Its topic. */
            topic: string;
            /**
             * Format: int64
             * @description Its number.
             */
            queue: number;
            /** @description `owned`, `revoking` (the owner is to give it back) or `unassigned`. */
            state: string;
            /** @description The owner. */
            member_id?: string;
            /** @description The owner's client. */
            client_id?: string;
            /**
             * Format: int64
             * @description In which generation the owner was decided.
             */
            assignment_epoch?: number;
            /**
             * Format: date-time
             * @description Since when it is the owner's.
             */
            assigned_at?: string;
            /** @description Who gets it; absent when nobody does. */
            next_member_id?: string;
            /**
             * Format: int64
             * @description In which generation that was decided.
             */
            next_epoch?: number;
            /**
             * Format: date-time
             * @description Until when the owner has it at most.
             */
            deadline?: string;
        };
        /**
         * @description Who consumes what in a group.
         * @example {
         *       "generation": 7,
         *       "reason": "member joined",
         *       "term": 4,
         *       "decided_at": "2026-12-01T08:30:00.000Z",
         *       "items": [
         *         {
         *           "topic": "orders",
         *           "queue": 3,
         *           "state": "owned",
         *           "member_id": "019ad8f4-6a10-7b00-8000-00000000c1d2",
         *           "client_id": "billing-7f9c",
         *           "assignment_epoch": 7,
         *           "assigned_at": "2026-12-01T08:30:00.000Z"
         *         }
         *       ]
         *     }
         */
        AssignmentList: {
            /**
             * Format: int64
             * @description The last decision; it grows with each.
             */
            generation: number;
            /** @description What the last decision was made for, such as `member joined`; empty before the first. */
            reason: string;
            /**
             * Format: int64
             * @description The term of the coordinator that made it.
             */
            term?: number;
            /**
             * Format: date-time
             * @description When it was made; absent before the first.
             */
            decided_at?: string;
            /** @description The queues by topic and number. */
            items: components["schemas"]["QueueAssignment"][];
        };
        /**
         * @description What to receive.
         * @example {
         *       "topics": [
         *         {
         *           "topic": "orders",
         *           "tags": "paid"
         *         }
         *       ],
         *       "max_messages": 32,
         *       "wait_ms": 20000
         *     }
         */
        ReceiveRequest: {
            /** @description What the receiver consumes; all receivers of a group do alike. */
            topics: components["schemas"]["TopicFilter"][];
            /**
             * Format: int64
             * @description At most so many; 32 by default.
             */
            max_messages?: number;
            /**
             * Format: int64
             * @description Stop before a message that would bring the bodies above this size; 4 MiB by default.
             */
            max_bytes?: number;
            /**
             * Format: int64
             * @description How long to hold the request while there is nothing to deliver. More than `limits.wait_ms` counts as that: the answer tells.
             */
            wait_ms?: number;
            /**
             * Format: int64
             * @description How long the messages are hidden; the group's when left out.
             */
            invisible_ms?: number;
            /** @description Your name for this receive, for ordered groups: sent again it gets the same messages while they are hidden. */
            attempt_id?: string;
        };
        /**
         * @description Messages with receipts.
         * @example {
         *       "messages": [],
         *       "gaps": [],
         *       "wait_ms": 20000
         *     }
         */
        ReceiveResult: {
            /** @description The messages; those of one queue by offset. Each has a `receipt`. */
            messages: components["schemas"]["Message"][];
            /** @description Messages that cannot be delivered any more. */
            gaps: components["schemas"]["Gap"][];
            /**
             * Format: int64
             * @description How long the request might have been held at most.
             */
            wait_ms: number;
        };
        /**
         * @description Messages that are finished.
         * @example {
         *       "receipts": [
         *         "UmVjZWlwdA"
         *       ]
         *     }
         */
        AckRequest: {
            /** @description Their receipts. */
            receipts: string[];
        };
        /**
         * @description A message to give back.
         * @example {
         *       "receipt": "UmVjZWlwdA",
         *       "delay_ms": 5000
         *     }
         */
        NackItem: {
            /** @description Its receipt. */
            receipt: string;
            /**
             * Format: int64
             * @description How long it waits before it comes again; what the group's `retry` says when left out.
             */
            delay_ms?: number;
            /** @description Why, for whoever looks at retries and dead letters; `nacked` when left out. */
            reason?: string;
            /** @description It is not to come again, whatever attempts it has left. Not with `delay_ms`. */
            dead_letter?: boolean;
            /** @description Nobody tried it: it comes again at once, and this delivery does not count as an attempt. Not with the others. */
            unhandled?: boolean;
        };
        /**
         * @description Messages to give back.
         * @example {
         *       "items": [
         *         {
         *           "receipt": "UmVjZWlwdA",
         *           "delay_ms": 5000
         *         }
         *       ]
         *     }
         */
        NackRequest: {
            /** @description The messages. */
            items: components["schemas"]["NackItem"][];
        };
        /**
         * @description A message to keep hidden.
         * @example {
         *       "receipt": "UmVjZWlwdA",
         *       "invisible_ms": 60000
         *     }
         */
        ExtendItem: {
            /** @description Its receipt. */
            receipt: string;
            /**
             * Format: int64
             * @description For how long from now; the group's when left out.
             */
            invisible_ms?: number;
        };
        /**
         * @description Messages to keep hidden.
         * @example {
         *       "items": [
         *         {
         *           "receipt": "UmVjZWlwdA",
         *           "invisible_ms": 60000
         *         }
         *       ]
         *     }
         */
        ExtendRequest: {
            /** @description The messages. */
            items: components["schemas"]["ExtendItem"][];
        };
        /**
         * @description What became of one receipt.
         * @example {
         *       "index": 0,
         *       "status": "done"
         *     }
         */
        ReceiptResult: {
            /**
             * Format: int64
             * @description Its place in the request.
             */
            index: number;
            /** @description `done`, also when it was done before, or `failed`. */
            status: string;
            /** @description Of an extend: a receipt of the same delivery. */
            receipt?: string;
            /**
             * Format: date-time
             * @description Of an extend: until when the message is hidden. Of a nack: when it comes again.
             */
            deadline?: string;
            /** @description Of a nack: the message is a dead letter now. Absent otherwise. */
            dead_letter?: boolean;
            error?: components["schemas"]["ProblemItem"];
        };
        /**
         * @description What became of the receipts.
         * @example {
         *       "done": 1,
         *       "failed": 0,
         *       "results": [
         *         {
         *           "index": 0,
         *           "status": "done"
         *         }
         *       ]
         *     }
         */
        ReceiptResults: {
            /**
             * Format: int64
             * @description How many are done.
             */
            done: number;
            /**
             * Format: int64
             * @description How many are not.
             */
            failed: number;
            /** @description One per receipt, in the order of the request. */
            results: components["schemas"]["ReceiptResult"][];
        };
        /**
         * @description A group's progress in a queue.
         * @example {
         *       "group": "billing",
         *       "group_id": "019ad8f4-0000-7000-8000-0000000000aa",
         *       "mode": "clustering",
         *       "topic": "orders",
         *       "topic_id": "019ad8f4-0000-7000-8000-0000000000bb",
         *       "topic_type": "normal",
         *       "queue": 3,
         *       "member_id": "019ad8f4-6a10-7b00-8000-00000000c1d2",
         *       "client_id": "billing-7f9c",
         *       "offset": 40,
         *       "version": 1,
         *       "start_offset": 17,
         *       "stopped": false,
         *       "min_offset": 0,
         *       "next_offset": 42,
         *       "lag": 2,
         *       "lag_known": true,
         *       "lag_exceeded": false,
         *       "lag_ms": 1500,
         *       "created_at": "2026-12-01T08:00:00.000Z",
         *       "updated_at": "2026-12-01T08:30:00.000Z",
         *       "updated_by": "billing-7f9c"
         *     }
         */
        GroupOffset: {
            /** @description The group. */
            group: string;
            /** @description The group's id. */
            group_id: string;
            mode: components["schemas"]["GroupMode"];
            /** @description The topic. */
            topic: string;
            /** @description The topic's id. */
            topic_id: string;
            topic_type: components["schemas"]["TopicType"];
            /**
             * Format: int64
             * @description The queue.
             */
            queue: number;
            /** @description Who owns the queue; absent when nobody does. */
            member_id?: string;
            /** @description The owner's client; when broadcasting, whose progress this is. */
            client_id?: string;
            /**
             * Format: int64
             * @description The next offset to consume; null when the group has none there yet.
             */
            offset: number | null;
            /**
             * Format: int64
             * @description The offset's version; every reset raises it. 0 when there is no offset.
             */
            version: number;
            /**
             * Format: int64
             * @description Where the group began.
             */
            start_offset: number | null;
            /** @description The group does not consume the queue now. */
            stopped: boolean;
            /**
             * Format: int64
             * @description The first offset that is kept.
             */
            min_offset: number;
            /**
             * Format: int64
             * @description The offset that the next message will get.
             */
            next_offset: number;
            /**
             * Format: int64
             * @description How many messages are still to be consumed; null when that is not known.
             */
            lag: number | null;
            /** @description Whether `lag` is known. */
            lag_known: boolean;
            /** @description `lag` is above the `max_lag` of the group's settings for the topic. */
            lag_exceeded: boolean;
            /**
             * Format: int64
             * @description How long ago the next message to consume was stored; 0 when there is none. Null when that is not known.
             */
            lag_ms: number | null;
            /**
             * Format: date-time
             * @description When the group first had an offset there.
             */
            created_at?: string;
            /**
             * Format: date-time
             * @description When the offset was last changed.
             */
            updated_at?: string;
            /** @description Who changed it last: a client id, or the kind of change. */
            updated_by?: string;
        };
        /**
         * @description A group's progress.
         * @example {
         *       "items": [
         *         {
         *           "group": "billing",
         *           "group_id": "019ad8f4-0000-7000-8000-0000000000aa",
         *           "mode": "clustering",
         *           "topic": "orders",
         *           "topic_id": "019ad8f4-0000-7000-8000-0000000000bb",
         *           "topic_type": "normal",
         *           "queue": 3,
         *           "member_id": "019ad8f4-6a10-7b00-8000-00000000c1d2",
         *           "client_id": "billing-7f9c",
         *           "offset": 40,
         *           "version": 1,
         *           "start_offset": 17,
         *           "stopped": false,
         *           "min_offset": 0,
         *           "next_offset": 42,
         *           "lag": 2,
         *           "lag_known": true,
         *           "lag_exceeded": false,
         *           "lag_ms": 1500,
         *           "created_at": "2026-12-01T08:00:00.000Z",
         *           "updated_at": "2026-12-01T08:30:00.000Z",
         *           "updated_by": "billing-7f9c"
         *         }
         *       ],
         *       "lag": 2,
         *       "lag_known": true
         *     }
         */
        GroupOffsetList: {
            /** @description The queues by topic and number. */
            items: components["schemas"]["GroupOffset"][];
            /**
             * Format: int64
             * @description Messages still to be consumed in all of these queues; null when that is not known of one.
             */
            lag: number | null;
            /** @description Whether `lag` is known. */
            lag_known: boolean;
        };
        /**
         * @description Progress in one queue.
         * @example {
         *       "topic": "orders",
         *       "queue": 3,
         *       "offset": 42,
         *       "version": 1,
         *       "assignment_epoch": 7
         *     }
         */
        OffsetCommit: {
            /** @description The topic. */
            topic: string;
            /**
             * Format: int64
             * @description The queue.
             */
            queue: number;
            /**
             * Format: int64
             * @description The next offset to consume.
             */
            offset: number;
            /**
             * Format: int64
             * @description The version that the offset must have.
             */
            version: number;
            /**
             * Format: int64
             * @description Since which generation the queue is the member's; 0 (the default) without an owner.
             */
            assignment_epoch?: number;
        };
        /**
         * @description Progress to commit.
         * @example {
         *       "member_id": "019ad8f4-6a10-7b00-8000-00000000c1d2",
         *       "sync": true,
         *       "offsets": [
         *         {
         *           "topic": "orders",
         *           "queue": 3,
         *           "offset": 42,
         *           "version": 1,
         *           "assignment_epoch": 7
         *         }
         *       ]
         *     }
         */
        CommitRequest: {
            /** @description Who commits; without it only queues that nobody owns are committed. */
            member_id?: string;
            /** @description Answer when it is stored; false by default: it is merged and stored within seconds. */
            sync?: boolean;
            /** @description The queues, each once. */
            offsets: components["schemas"]["OffsetCommit"][];
        };
        /**
         * @description What became of one commit.
         * @example {
         *       "index": 0,
         *       "status": "stored",
         *       "offset": 42,
         *       "version": 1
         *     }
         */
        CommitOutcome: {
            /**
             * Format: int64
             * @description Its place in the request.
             */
            index: number;
            /** @description `stored`, `pending` (it will be stored within seconds), `unchanged` (it is not beyond what is stored) or `failed`. */
            status: string;
            /**
             * Format: int64
             * @description The offset that is stored; absent where that is not known.
             */
            offset?: number;
            /**
             * Format: int64
             * @description The version that is stored; absent where that is not known.
             */
            version?: number;
            error?: components["schemas"]["ProblemItem"];
        };
        /**
         * @description What became of the commits.
         * @example {
         *       "accepted": 1,
         *       "failed": 0,
         *       "results": [
         *         {
         *           "index": 0,
         *           "status": "stored",
         *           "offset": 42,
         *           "version": 1
         *         }
         *       ]
         *     }
         */
        CommitResult: {
            /**
             * Format: int64
             * @description How many are stored, pending or unchanged.
             */
            accepted: number;
            /**
             * Format: int64
             * @description How many are not.
             */
            failed: number;
            /** @description One per queue, in the order of the request. */
            results: components["schemas"]["CommitOutcome"][];
        };
        /**
         * @description Offsets as RocketMQ's consumerOffset.json has them.
         * @example {
         *       "offsetTable": {
         *         "orders@billing": {
         *           "0": 42,
         *           "1": 17
         *         }
         *       }
         *     }
         */
        OffsetExport: {
            /** @description `topic@group` → its queues. */
            offsetTable: {
                [key: string]: components["schemas"]["OffsetTable"];
            };
        };
        /**
         * @description Queue number → next offset to consume.
         * @example {
         *       "0": 42,
         *       "1": 17
         *     }
         */
        OffsetTable: {
            [key: string]: number;
        };
        /**
         * @description Where to: the `earliest` message that is kept, the end (`latest`), the first message stored at or after a `timestamp`, an `offset`, or the present offset moved by a `shift`.
         * @example timestamp
         * @enum {string}
         */
        ResetTarget: "earliest" | "latest" | "timestamp" | "offset" | "shift";
        /**
         * @description Where to move a group's progress.
         * @example {
         *       "topic": "orders",
         *       "to": "timestamp",
         *       "timestamp": "2026-12-01T08:00:00.000Z",
         *       "dry_run": true
         *     }
         */
        ResetRequest: {
            /** @description The topic. */
            topic: string;
            /** @description Only these queues; all when left out. */
            queues?: number[];
            to: components["schemas"]["ResetTarget"];
            /**
             * Format: date-time
             * @description For `to: timestamp`.
             */
            timestamp?: string;
            /**
             * Format: int64
             * @description For `to: offset`: the offset in every one of the queues.
             */
            offset?: number;
            /**
             * Format: int64
             * @description For `to: shift`: so many messages back (negative) or on.
             */
            shift?: number;
            /** @description Change nothing; only tell what would happen. */
            dry_run?: boolean;
        };
        /**
         * @description A group's progress before and after a reset.
         * @example {
         *       "dry_run": false,
         *       "items": [
         *         {
         *           "topic": "orders",
         *           "queue": 3,
         *           "old_offset": 42,
         *           "old_version": 1,
         *           "new_offset": 17,
         *           "new_version": 2
         *         }
         *       ]
         *     }
         */
        ResetResult: {
            /** @description Nothing was changed. */
            dry_run: boolean;
            /** @description The queues by number. */
            items: components["schemas"]["OffsetChange"][];
        };
        /**
         * @description What can be set of a group in one queue.
         * @example {
         *       "stopped": true
         *     }
         */
        GroupQueueSettings: {
            /** @description Whether consumption is stopped. */
            stopped: boolean;
        };
        /**
         * @description What the ticket should be like.
         * @example {
         *       "ttl_ms": 30000
         *     }
         */
        TicketRequest: {
            /**
             * Format: int64
             * @description How long it may wait to be used; 30 s by default.
             */
            ttl_ms?: number;
        };
        /**
         * @description A ticket.
         * @example {
         *       "ticket": "tkt_3QyQ0mB6m0c2o4P1s7dZ8w",
         *       "expires_at": "2026-12-01T08:31:00.000Z"
         *     }
         */
        Ticket: {
            /** @description Keep it secret; it works once. */
            ticket: string;
            /**
             * Format: date-time
             * @description Until when it works.
             */
            expires_at: string;
        };
        /**
         * @description The cluster as one gateway sees it.
         * @example {
         *       "gateway": "019ad8f4-0000-7000-8000-000000000001",
         *       "store_id": "019ad8f3-0000-7000-8000-000000000001",
         *       "phase": "ready",
         *       "gateways": [
         *         {
         *           "writer": "019ad8f4-0000-7000-8000-000000000001",
         *           "state": "live",
         *           "beat_at": "2026-12-01T08:30:00.000Z"
         *         }
         *       ],
         *       "coordinator": {
         *         "holder": "019ad8f4-0000-7000-8000-000000000009",
         *         "term": 4
         *       },
         *       "writers": [
         *         {
         *           "writer": "019ad8f4-0000-7000-8000-000000000001",
         *           "state": "live",
         *           "beat_at": "2026-12-01T08:30:00.000Z"
         *         }
         *       ],
         *       "redis": {
         *         "status": "ok",
         *         "latency_ms": 1
         *       },
         *       "store": {
         *         "status": "ok"
         *       },
         *       "segments": {
         *         "written": 120
         *       }
         *     }
         */
        Cluster: {
            /** @description The id of the gateway that answers; it is its writer's. */
            gateway: string;
            /** @description The id of the store's content; absent when Redis cannot be asked. */
            store_id?: string;
            /** @description `ready`, or `recovering` while the index is rebuilt. */
            phase?: string;
            /** @description Gateways with a fresh heartbeat. */
            gateways: components["schemas"]["ClusterWriter"][];
            coordinator?: components["schemas"]["ClusterLeader"];
            /** @description All writers that Redis knows, also dead ones whose segments are still to be adopted. */
            writers: components["schemas"]["ClusterWriter"][];
            redis: components["schemas"]["Health"];
            store: components["schemas"]["Health"];
            segments?: components["schemas"]["SegmentCounts"];
        };
        /**
         * @description One incarnation of a process that writes segments.
         * @example {
         *       "writer": "019ad8f4-0000-7000-8000-000000000001",
         *       "state": "live",
         *       "beat_at": "2026-12-01T08:30:00.000Z"
         *     }
         */
        ClusterWriter: {
            /** @description Its id. */
            writer: string;
            /** @description `live`, `dead` (no heartbeat for 30 s) or `retired` (it stopped in order). */
            state: string;
            /**
             * Format: date-time
             * @description Its last heartbeat.
             */
            beat_at: string;
        };
        /**
         * @description The coordinator that leads.
         * @example {
         *       "holder": "019ad8f4-0000-7000-8000-000000000009",
         *       "term": 4
         *     }
         */
        ClusterLeader: {
            /** @description Its id. */
            holder: string;
            /**
             * Format: int64
             * @description Its term; each new leader has a higher one.
             */
            term: number;
        };
        /**
         * @description Whether a part works.
         * @example {
         *       "status": "ok",
         *       "latency_ms": 1
         *     }
         */
        Health: {
            /** @description `ok`, `failing` or `unknown`. */
            status: string;
            /**
             * Format: int64
             * @description How long it took to answer just now.
             */
            latency_ms?: number;
            /** @description What does not work. */
            detail?: string;
        };
        /**
         * @description Segments, counted without a LIST.
         * @example {
         *       "written": 120
         *     }
         */
        SegmentCounts: {
            /**
             * Format: int64
             * @description Segments that this gateway has written since it started.
             */
            written: number;
        };
    };
    responses: {
        /** @description Every message is stored and durable. */
        Sent: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["SendResult"];
            };
        };
        /** @description `ack` is `none`: the messages are buffered and may still be lost; there are no offsets yet. */
        Buffered: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["SendResult"];
            };
        };
        /**
         * @description Some messages are stored and some are not; each result says which. Today a request is stored as a whole or not at all,
         *     so this does not come; be ready for it.
         */
        PartlySent: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["SendResult"];
            };
        };
        /** @description The request is wrong. */
        BadParameters: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong. */
        BadQuery: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong. */
        BadName: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong. */
        BadNameOrHeader: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong. */
        BadTopicQuery: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong. */
        BadStream: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong; nothing was changed. */
        BadTopicBody: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong; nothing was changed. */
        BadBodyOrHeader: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong; nothing was stored. */
        BadSendBody: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong; nothing was stored. */
        BadRequestBody: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The message breaks a rule; nothing was stored. */
        RequestRefused: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `reply_timeout`: the message is stored, and no reply came in time. `outcome_unknown`: the message may be stored. */
        NoReply: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong; nobody got it. */
        BadReply: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There was a reply before; perhaps this one, whose answer was lost. */
        AlreadyReplied: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Nobody waits for the reply any more. */
        RequestOver: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong; nothing was stored. */
        BadRawSend: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong; nothing was stored. */
        BadFramedSend: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong. */
        BadUpgrade: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A page of this origin may not open a socket. */
        OriginDenied: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such topic. */
        NoTopic: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such topic, or no such delayed message. */
        NoTimer: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such transaction, or none any more. */
        NoTransaction: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It was decided otherwise, or has expired. */
        TransactionDecided: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The stored bytes of its messages are damaged or gone. */
        DamagedTransaction: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The producer group has too many undecided transactions. */
        ManyTransactions: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong; nothing was stored. */
        BadTransaction: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The message was delivered already. */
        Delivered: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such topic or queue. */
        NoQueue: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such topic, queue or message. */
        NoMessage: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong; nothing was changed. */
        BadGroupBody: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong; nothing was changed. */
        BadBodyOrParameter: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong; nothing was changed. */
        BadPoll: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is wrong, or no receipt is one of this group; nothing was changed. */
        BadReceipts: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The group takes no members from this address. */
        AddressDenied: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such group. */
        NoGroup: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such group or topic. */
        NoGroupOrTopic: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such group, topic or queue. */
        NoGroupOrTopicQueue: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such group, topic or queue, or the group does not consume it. */
        NoGroupQueue: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such group, or the member left, expired or never was: join again. */
        NoMember: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such group, member, topic or queue. */
        NoMemberOrQueue: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such group or member; or there is none of the queues, or the group does not consume them. */
        NoCommitTarget: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A newer session of the same client replaced the member. */
        SessionTaken: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A newer session replaced the member, or it knows a generation that is not decided yet: read again. */
        HeartbeatConflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The group has members. */
        GroupActive: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The group cannot take this member now; nothing was changed. */
        JoinConflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The queue is not the member's, or a newer session replaced the member. */
        SeekConflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The group is not consumed like this. */
        ReceiveConflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description No receipt counts any more; nothing was changed. */
        ReceiptConflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description No queue is the committer's; nothing was changed. */
        CommitConflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Every queue was reset since; nothing was changed. */
        OffsetVersion: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Every offset is beyond the end of its queue; nothing was changed. */
        OffsetBeyond: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The offset is not in the queue; nothing was changed. */
        OffsetOutside: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The offset is not in a queue, or the key was used for another request; nothing was changed. */
        ResetRefused: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `If-Match` or `If-None-Match` does not hold; nothing was changed. */
        GroupPrecondition: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It cannot be said whether the reply was taken where `definite` is false. Send again: 409 says that there was one. */
        ReplyUnavailable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It cannot be said whether it was done where `definite` is false. Send again: doing it twice changes nothing. */
        GroupUnavailable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `Accept` rules out what this operation answers. */
        NotAcceptable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body came too slowly; nothing was changed. */
        BodyTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The producer or the idempotency key says that this request is out of turn; nothing was stored. */
        SendConflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `if_next_offset` is not the queue's next offset, which `errors` tells; nothing was stored. */
        NextOffsetConflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A request with this key is still running. */
        KeyInFlight: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The topic cannot be changed like this. */
        TopicConflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The topic is in another epoch: offsets name other messages now. */
        EpochChanged: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The message was there and cannot be had now. */
        Gone: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `If-Match` or `If-None-Match` does not hold; nothing was changed. */
        TopicPrecondition: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `If-Match` does not hold; nothing was changed. */
        StaleVersion: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is too large; nothing was changed. */
        BodyTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request or a message is too large; nothing was stored. */
        SendTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is in a type or encoding that this operation does not read. */
        UnsupportedMedia: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The offset is beyond the end of the queue. */
        BeyondEnd: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A message breaks a rule, or the key was used for another body; nothing was stored. */
        SendRefused: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The key was used for another body. */
        KeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description This is a WebSocket. */
        UpgradeRequired: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description This server is stopping. */
        Stopping: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Nothing was changed; send again. */
        Unavailable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Nothing was changed; send again. */
        NotReady: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Nothing was stored; send again. */
        NotStored: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Nothing was stored; send again. */
        Busy: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It may have been done. Send again with the same key, producer sequence or If-Match to be sure. */
        OutcomeUnknown: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description An error that is none of the above. */
        Unexpected: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description The topic's name. */
        TopicParam: string;
        /** @description The number of a queue, from 0. */
        QueueParam: number;
        /** @description The offset of the message in its queue. */
        MessageOffsetParam: number;
        /** @description The group's name. */
        GroupParam: string;
        /** @description The `transaction_id`. */
        TransactionParam: string;
        /** @description The name of the producer group. */
        ProducerGroupParam: string;
        /** @description Only transactions in this state. */
        TransactionStateParam: "begun" | "open" | "committed" | "rolled_back" | "expired";
        /** @description Commit it although it has expired; for people who know that it should have been. */
        ForceCommitParam: boolean;
        /** @description The member's id. */
        MemberParam: string;
        /** @description Only names that begin like this. */
        PrefixParam: string;
        /** @description At most so many items. */
        LimitParam: number;
        /** @description `waiting` (the default) or `due`. */
        RetryStateParam: "waiting" | "due";
        /** @description Only messages that were sent to this topic. */
        OriginTopicParam: string;
        /** @description Only with this reason. */
        ReasonParam: string;
        /** @description Only those that became dead letters at this time or later. */
        DeadFromParam: string;
        /** @description Only those that became dead letters before this time. */
        DeadToParam: string;
        /** @description The `next_page_token` of the page before. */
        PageTokenParam: string;
        /** @description The first message stored at or after this time. */
        TimestampParam: string;
        /** @description The earliest message that is kept, or the end of the queue. */
        PositionParam: components["schemas"]["Position"];
        /** @description The first offset to read. */
        OffsetParam: number;
        /** @description At most so many messages. */
        FramesLimitParam: number;
        /** @description Stop before a message that would bring the bodies above this size; the first message always comes. */
        MaxBytesParam: number;
        /** @description How long to hold the request while there is nothing to answer. */
        WaitMsParam: number;
        /** @description Only messages with one of these tags: `paid || refunded`. `*` = all. */
        TagsParam: string;
        /** @description Only messages that meet this SQL92 condition over their properties; `TAGS` is the tag, `KEYS` the keys. Not together with `tags`. What cannot be compiled is refused with the position. */
        SqlParam: string;
        /** @description `base64` gives every body in base64; `text` gives text bodies as text. */
        EncodingParam: components["schemas"]["Encoding"];
        /** @description Fail with 409 unless the topic still is in this epoch. */
        EpochParam: number;
        /** @description Move an offset outside the queue to its nearest bound instead of failing. */
        ClampParam: boolean;
        /** @description The queue to store in; without it the server picks one. */
        MessageQueueParam: number;
        /** @description Messages with the same key go to the same queue and keep their order. */
        OrderingKeyParam: string;
        /** @description The message's tag. */
        TagParam: string;
        /** @description Business keys to find the message by; repeat the parameter for several. */
        KeysParam: string[];
        /** @description What the body is, for readers. It never changes how it is stored. */
        ContentTypeParam: string;
        /** @description The `recall_handle` of a delayed message. */
        HandleParam: string;
        /** @description How long from now the message is delivered; see NewMessage. */
        DelayParam: number;
        /** @description When the message is delivered; see NewMessage. */
        DeliverAtParam: string;
        /** @description The delay as one of 18 levels; see NewMessage. */
        DelayLevelParam: number;
        /** @description When to answer. */
        AckParam: components["schemas"]["Ack"];
        /** @description With `producer_epoch` and `producer_seq`, the producer's identity (see Producer). */
        ProducerIdParam: string;
        /** @description The producer's epoch. */
        ProducerEpochParam: number;
        /** @description The producer's number of this request. */
        ProducerSeqParam: number;
        /**
         * @description Store only if this is the next offset of `queue`; else 412 with the current one. Not together with a delay, a
         *     producer or `ack=none`.
         */
        IfNextOffsetParam: number;
        /** @description The id of the message. */
        MessageIdParam: string;
        /** @description Only messages that have this key, as one of their keys. */
        KeyParam: string;
        /** @description Only messages stored at or after this time. */
        FromParam: string;
        /** @description Only messages stored before this time; now when left out. */
        ToParam: string;
        /** @description Only these queues, separated by commas. */
        QueuesParam: number[];
        /** @description A ticket of `createTicket`. */
        TicketParam: string;
        /** @description Delete also what is in use. */
        ForceParam: boolean;
        /** @description Only this topic. */
        OffsetTopicParam: string;
        /** @description Broadcasting groups: only the progress of this client. */
        ClientIdParam: string;
        /**
         * @description 1 to 255 visible ASCII characters that name this request. The same key and body within the window of `getInfo` give
         *     the first answer again, with `Idempotent-Replayed: true`.
         */
        IdempotencyKeyParam: string;
        /** @description Only if the topic has one of these ETags, or `*` for any. */
        IfMatchParam: string;
        /** @description Only if the current state has none of these ETags, or `*` if there is nothing. */
        IfNoneMatchParam: string;
        /** @description The id of the last event seen; the stream goes on after it. */
        LastEventIDParam: string;
    };
    requestBodies: never;
    headers: {
        /** @description The id of this request in the server's logs. */
        "X-Request-Id": string;
        /** @description The version of what was answered; opaque. */
        ETag: string;
        /** @description The path of what was created. */
        Location: string;
        /** @description How long the answer may be kept. */
        "Cache-Control": string;
        /** @description Seconds to wait before another try. */
        "Retry-After": number;
        /** @description The methods that this path has. */
        Allow: string;
        /** @description `true` when this is the first answer again. */
        "Idempotent-Replayed": boolean;
        /** @description The page's status, as in MessagePage. */
        "Bmq-Status": components["schemas"]["ReadStatus"];
        /** @description Where to continue. */
        "Bmq-Next-Offset": number;
        /** @description The first offset that is kept. */
        "Bmq-Min-Offset": number;
        /** @description The offset after the last message of the queue. */
        "Bmq-Max-Offset": number;
        /** @description The topic's epoch. */
        "Bmq-Epoch": number;
        /** @description How many records the body has. */
        "Bmq-Count": number;
        /**
         * @description Where the records belong: `first+count@stored_at` (Unix milliseconds) for each run of consecutive offsets that were
         *     stored at one time, separated by commas.
         */
        "Bmq-Runs": string;
        /** @description The message's id. */
        "Bmq-Message-Id": string;
        /** @description The message's queue. */
        "Bmq-Queue": number;
        /** @description The message's offset. */
        "Bmq-Offset": number;
        /** @description When it was stored. */
        "Bmq-Stored-At": string;
        /** @description When it came to be. */
        "Bmq-Born-At": string;
        /** @description Its tag, percent-encoded, when it has one. */
        "Bmq-Tag": string;
        /** @description Its keys, percent-encoded and separated by blanks, when it has some. */
        "Bmq-Keys": string;
        /** @description Its ordering key, percent-encoded, when it has one. */
        "Bmq-Ordering-Key": string;
        /** @description Its content type, percent-encoded, when it has one. */
        "Bmq-Content-Type": string;
        /** @description How many properties it has, when they are too large for headers and were left out; absent otherwise. */
        "Bmq-Properties-Omitted": number;
        /** @description `true` for a tombstone, absent otherwise. */
        "Bmq-Tombstone": boolean;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getInfo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What this server is and what it accepts. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Info"];
                };
            };
            400: components["responses"]["BadParameters"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["Stopping"];
            default: components["responses"]["Unexpected"];
        };
    };
    getOpenAPI: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The OpenAPI document. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/yaml": components["schemas"]["Document"];
                };
            };
            400: components["responses"]["BadParameters"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["Stopping"];
            default: components["responses"]["Unexpected"];
        };
    };
    getAsyncAPI: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The AsyncAPI document. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/yaml": components["schemas"]["Document"];
                };
            };
            400: components["responses"]["BadParameters"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["Stopping"];
            default: components["responses"]["Unexpected"];
        };
    };
    listTopics: {
        parameters: {
            query?: {
                /** @description Only names that begin like this. */
                prefix?: components["parameters"]["PrefixParam"];
                /** @description At most so many items. */
                limit?: components["parameters"]["LimitParam"];
                /** @description The `next_page_token` of the page before. */
                page_token?: components["parameters"]["PageTokenParam"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, sorted by name. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopicList"];
                };
            };
            400: components["responses"]["BadQuery"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    getTopic: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only if the current state has none of these ETags, or `*` if there is nothing. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchParam"];
            };
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The topic. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Topic"];
                };
            };
            /** @description The topic still has the ETag of `If-None-Match`. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadNameOrHeader"];
            404: components["responses"]["NoTopic"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    putTopic: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only if the topic has one of these ETags, or `*` for any. */
                "If-Match"?: components["parameters"]["IfMatchParam"];
                /** @description Only if the current state has none of these ETags, or `*` if there is nothing. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchParam"];
            };
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TopicSettings"];
            };
        };
        responses: {
            /** @description The topic existed and has these settings now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Topic"];
                };
            };
            /** @description The topic was created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Topic"];
                };
            };
            400: components["responses"]["BadTopicBody"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["TopicConflict"];
            412: components["responses"]["TopicPrecondition"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            503: components["responses"]["NotStored"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    deleteTopic: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only if the topic has one of these ETags, or `*` for any. */
                "If-Match"?: components["parameters"]["IfMatchParam"];
            };
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The topic is gone. A topic made later under the same name shares nothing with it. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadNameOrHeader"];
            404: components["responses"]["NoTopic"];
            412: components["responses"]["StaleVersion"];
            503: components["responses"]["NotReady"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    updateTopic: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only if the topic has one of these ETags, or `*` for any. */
                "If-Match"?: components["parameters"]["IfMatchParam"];
            };
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TopicSettings"];
            };
        };
        responses: {
            /** @description The topic as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Topic"];
                };
            };
            400: components["responses"]["BadTopicBody"];
            404: components["responses"]["NoTopic"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["TopicConflict"];
            412: components["responses"]["StaleVersion"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            503: components["responses"]["NotStored"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    listQueues: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All queues, in order. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueList"];
                };
            };
            400: components["responses"]["BadName"];
            404: components["responses"]["NoTopic"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    findOffsets: {
        parameters: {
            query?: {
                /** @description The first message stored at or after this time. */
                timestamp?: components["parameters"]["TimestampParam"];
                /** @description The earliest message that is kept, or the end of the queue. */
                position?: components["parameters"]["PositionParam"];
            };
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One offset per queue. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OffsetList"];
                };
            };
            400: components["responses"]["BadTopicQuery"];
            404: components["responses"]["NoTopic"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    sendMessages: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 visible ASCII characters that name this request. The same key and body within the window of `getInfo` give
                 *     the first answer again, with `Idempotent-Replayed: true`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKeyParam"];
            };
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendRequest"];
            };
        };
        responses: {
            200: components["responses"]["Sent"];
            202: components["responses"]["Buffered"];
            207: components["responses"]["PartlySent"];
            400: components["responses"]["BadSendBody"];
            404: components["responses"]["NoTopic"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["SendConflict"];
            412: components["responses"]["NextOffsetConflict"];
            413: components["responses"]["SendTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["SendRefused"];
            503: components["responses"]["NotStored"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    requestReply: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplyRequest"];
            };
        };
        responses: {
            /** @description There is a reply. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestResult"];
                };
            };
            400: components["responses"]["BadRequestBody"];
            404: components["responses"]["NoTopic"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            413: components["responses"]["SendTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["RequestRefused"];
            503: components["responses"]["NotStored"];
            504: components["responses"]["NoReply"];
            default: components["responses"]["Unexpected"];
        };
    };
    sendReply: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewReply"];
            };
        };
        responses: {
            /** @description The reply is taken. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadReply"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["AlreadyReplied"];
            410: components["responses"]["RequestOver"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            503: components["responses"]["ReplyUnavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    sendRawMessage: {
        parameters: {
            query?: {
                /** @description The queue to store in; without it the server picks one. */
                queue?: components["parameters"]["MessageQueueParam"];
                /** @description Messages with the same key go to the same queue and keep their order. */
                ordering_key?: components["parameters"]["OrderingKeyParam"];
                /** @description The message's tag. */
                tag?: components["parameters"]["TagParam"];
                /** @description Business keys to find the message by; repeat the parameter for several. */
                keys?: components["parameters"]["KeysParam"];
                /** @description What the body is, for readers. It never changes how it is stored. */
                content_type?: components["parameters"]["ContentTypeParam"];
                /** @description How long from now the message is delivered; see NewMessage. */
                delay_ms?: components["parameters"]["DelayParam"];
                /** @description When the message is delivered; see NewMessage. */
                deliver_at?: components["parameters"]["DeliverAtParam"];
                /** @description The delay as one of 18 levels; see NewMessage. */
                delay_level?: components["parameters"]["DelayLevelParam"];
                /** @description When to answer. */
                ack?: components["parameters"]["AckParam"];
                /** @description With `producer_epoch` and `producer_seq`, the producer's identity (see Producer). */
                producer_id?: components["parameters"]["ProducerIdParam"];
                /** @description The producer's epoch. */
                producer_epoch?: components["parameters"]["ProducerEpochParam"];
                /** @description The producer's number of this request. */
                producer_seq?: components["parameters"]["ProducerSeqParam"];
                /**
                 * @description Store only if this is the next offset of `queue`; else 412 with the current one. Not together with a delay, a
                 *     producer or `ack=none`.
                 */
                if_next_offset?: components["parameters"]["IfNextOffsetParam"];
            };
            header?: {
                /**
                 * @description 1 to 255 visible ASCII characters that name this request. The same key and body within the window of `getInfo` give
                 *     the first answer again, with `Idempotent-Replayed: true`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKeyParam"];
            };
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": components["schemas"]["Bytes"];
            };
        };
        responses: {
            200: components["responses"]["Sent"];
            202: components["responses"]["Buffered"];
            400: components["responses"]["BadRawSend"];
            404: components["responses"]["NoTopic"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["SendConflict"];
            412: components["responses"]["NextOffsetConflict"];
            413: components["responses"]["SendTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["SendRefused"];
            503: components["responses"]["NotStored"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    sendFramedMessages: {
        parameters: {
            query?: {
                /** @description The queue to store in; without it the server picks one. */
                queue?: components["parameters"]["MessageQueueParam"];
                /** @description When to answer. */
                ack?: components["parameters"]["AckParam"];
                /** @description With `producer_epoch` and `producer_seq`, the producer's identity (see Producer). */
                producer_id?: components["parameters"]["ProducerIdParam"];
                /** @description The producer's epoch. */
                producer_epoch?: components["parameters"]["ProducerEpochParam"];
                /** @description The producer's number of this request. */
                producer_seq?: components["parameters"]["ProducerSeqParam"];
                /**
                 * @description Store only if this is the next offset of `queue`; else 412 with the current one. Not together with a delay, a
                 *     producer or `ack=none`.
                 */
                if_next_offset?: components["parameters"]["IfNextOffsetParam"];
            };
            header?: {
                /**
                 * @description 1 to 255 visible ASCII characters that name this request. The same key and body within the window of `getInfo` give
                 *     the first answer again, with `Idempotent-Replayed: true`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKeyParam"];
            };
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": components["schemas"]["Bytes"];
            };
        };
        responses: {
            200: components["responses"]["Sent"];
            202: components["responses"]["Buffered"];
            207: components["responses"]["PartlySent"];
            400: components["responses"]["BadFramedSend"];
            404: components["responses"]["NoTopic"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["SendConflict"];
            412: components["responses"]["NextOffsetConflict"];
            413: components["responses"]["SendTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["SendRefused"];
            503: components["responses"]["NotStored"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    recallMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
                /** @description The `recall_handle` of a delayed message. */
                handle: components["parameters"]["HandleParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message is never delivered, also after a crash. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadName"];
            404: components["responses"]["NoTimer"];
            409: components["responses"]["Delivered"];
            503: components["responses"]["NotReady"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    readMessages: {
        parameters: {
            query?: {
                /** @description The first offset to read. */
                offset?: components["parameters"]["OffsetParam"];
                /** @description The earliest message that is kept, or the end of the queue. */
                position?: components["parameters"]["PositionParam"];
                /** @description The first message stored at or after this time. */
                timestamp?: components["parameters"]["TimestampParam"];
                /** @description At most so many items. */
                limit?: components["parameters"]["LimitParam"];
                /** @description Stop before a message that would bring the bodies above this size; the first message always comes. */
                max_bytes?: components["parameters"]["MaxBytesParam"];
                /** @description How long to hold the request while there is nothing to answer. */
                wait_ms?: components["parameters"]["WaitMsParam"];
                /** @description Only messages with one of these tags: `paid || refunded`. `*` = all. */
                tags?: components["parameters"]["TagsParam"];
                /** @description Only messages that meet this SQL92 condition over their properties; `TAGS` is the tag, `KEYS` the keys. Not together with `tags`. What cannot be compiled is refused with the position. */
                sql?: components["parameters"]["SqlParam"];
                /** @description `base64` gives every body in base64; `text` gives text bodies as text. */
                encoding?: components["parameters"]["EncodingParam"];
                /** @description Fail with 409 unless the topic still is in this epoch. */
                epoch?: components["parameters"]["EpochParam"];
                /** @description Move an offset outside the queue to its nearest bound instead of failing. */
                clamp?: components["parameters"]["ClampParam"];
            };
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
                /** @description The number of a queue, from 0. */
                queue: components["parameters"]["QueueParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, which may be empty. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessagePage"];
                };
            };
            400: components["responses"]["BadTopicQuery"];
            404: components["responses"]["NoQueue"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["EpochChanged"];
            410: components["responses"]["Gone"];
            416: components["responses"]["BeyondEnd"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    readFrames: {
        parameters: {
            query?: {
                /** @description The first offset to read. */
                offset?: components["parameters"]["OffsetParam"];
                /** @description The earliest message that is kept, or the end of the queue. */
                position?: components["parameters"]["PositionParam"];
                /** @description The first message stored at or after this time. */
                timestamp?: components["parameters"]["TimestampParam"];
                /** @description At most so many messages. */
                limit?: components["parameters"]["FramesLimitParam"];
                /** @description Stop before a message that would bring the bodies above this size; the first message always comes. */
                max_bytes?: components["parameters"]["MaxBytesParam"];
                /** @description How long to hold the request while there is nothing to answer. */
                wait_ms?: components["parameters"]["WaitMsParam"];
                /** @description Only messages with one of these tags: `paid || refunded`. `*` = all. */
                tags?: components["parameters"]["TagsParam"];
                /** @description Only messages that meet this SQL92 condition over their properties; `TAGS` is the tag, `KEYS` the keys. Not together with `tags`. What cannot be compiled is refused with the position. */
                sql?: components["parameters"]["SqlParam"];
                /** @description Fail with 409 unless the topic still is in this epoch. */
                epoch?: components["parameters"]["EpochParam"];
                /** @description Move an offset outside the queue to its nearest bound instead of failing. */
                clamp?: components["parameters"]["ClampParam"];
            };
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
                /** @description The number of a queue, from 0. */
                queue: components["parameters"]["QueueParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Framed messages, perhaps none. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Bmq-Status": components["headers"]["Bmq-Status"];
                    "Bmq-Next-Offset": components["headers"]["Bmq-Next-Offset"];
                    "Bmq-Min-Offset": components["headers"]["Bmq-Min-Offset"];
                    "Bmq-Max-Offset": components["headers"]["Bmq-Max-Offset"];
                    "Bmq-Epoch": components["headers"]["Bmq-Epoch"];
                    "Bmq-Count": components["headers"]["Bmq-Count"];
                    "Bmq-Runs": components["headers"]["Bmq-Runs"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": components["schemas"]["Bytes"];
                };
            };
            400: components["responses"]["BadTopicQuery"];
            404: components["responses"]["NoQueue"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["EpochChanged"];
            410: components["responses"]["Gone"];
            416: components["responses"]["BeyondEnd"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    getMessage: {
        parameters: {
            query?: {
                /** @description `base64` gives every body in base64; `text` gives text bodies as text. */
                encoding?: components["parameters"]["EncodingParam"];
            };
            header?: {
                /** @description Only if the current state has none of these ETags, or `*` if there is nothing. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchParam"];
            };
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
                /** @description The number of a queue, from 0. */
                queue: components["parameters"]["QueueParam"];
                /** @description The offset of the message in its queue. */
                offset: components["parameters"]["MessageOffsetParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            /** @description The caller has this message. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadTopicQuery"];
            404: components["responses"]["NoMessage"];
            406: components["responses"]["NotAcceptable"];
            410: components["responses"]["Gone"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    getRawMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only if the current state has none of these ETags, or `*` if there is nothing. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchParam"];
            };
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
                /** @description The number of a queue, from 0. */
                queue: components["parameters"]["QueueParam"];
                /** @description The offset of the message in its queue. */
                offset: components["parameters"]["MessageOffsetParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The body. It is empty for an empty body and for a tombstone, which has `Bmq-Tombstone` as well. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Bmq-Message-Id": components["headers"]["Bmq-Message-Id"];
                    "Bmq-Queue": components["headers"]["Bmq-Queue"];
                    "Bmq-Offset": components["headers"]["Bmq-Offset"];
                    "Bmq-Stored-At": components["headers"]["Bmq-Stored-At"];
                    "Bmq-Born-At": components["headers"]["Bmq-Born-At"];
                    "Bmq-Tag": components["headers"]["Bmq-Tag"];
                    "Bmq-Keys": components["headers"]["Bmq-Keys"];
                    "Bmq-Ordering-Key": components["headers"]["Bmq-Ordering-Key"];
                    "Bmq-Content-Type": components["headers"]["Bmq-Content-Type"];
                    "Bmq-Tombstone": components["headers"]["Bmq-Tombstone"];
                    "Bmq-Properties-Omitted": components["headers"]["Bmq-Properties-Omitted"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": components["schemas"]["Bytes"];
                };
            };
            /** @description The caller has this message. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadTopicQuery"];
            404: components["responses"]["NoMessage"];
            406: components["responses"]["NotAcceptable"];
            410: components["responses"]["Gone"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    searchMessages: {
        parameters: {
            query?: {
                /** @description The id of the message. */
                message_id?: components["parameters"]["MessageIdParam"];
                /** @description Only messages that have this key, as one of their keys. */
                key?: components["parameters"]["KeyParam"];
                /** @description Only messages stored at or after this time. */
                from?: components["parameters"]["FromParam"];
                /** @description Only messages stored before this time; now when left out. */
                to?: components["parameters"]["ToParam"];
                /** @description The message's tag. */
                tag?: components["parameters"]["TagParam"];
                /** @description `base64` gives every body in base64; `text` gives text bodies as text. */
                encoding?: components["parameters"]["EncodingParam"];
                /** @description At most so many items. */
                limit?: components["parameters"]["LimitParam"];
                /** @description The `next_page_token` of the page before. */
                page_token?: components["parameters"]["PageTokenParam"];
            };
            header?: never;
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was found in the part that was examined. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchResult"];
                };
            };
            400: components["responses"]["BadTopicQuery"];
            404: components["responses"]["NoTopic"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    listGroups: {
        parameters: {
            query?: {
                /** @description Only names that begin like this. */
                prefix?: components["parameters"]["PrefixParam"];
                /** @description At most so many items. */
                limit?: components["parameters"]["LimitParam"];
                /** @description The `next_page_token` of the page before. */
                page_token?: components["parameters"]["PageTokenParam"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, sorted by name. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupList"];
                };
            };
            400: components["responses"]["BadQuery"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    getGroup: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only if the current state has none of these ETags, or `*` if there is nothing. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchParam"];
            };
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The group. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Group"];
                };
            };
            /** @description The group still has the ETag of `If-None-Match`. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadNameOrHeader"];
            404: components["responses"]["NoGroup"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    putGroup: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only if the topic has one of these ETags, or `*` for any. */
                "If-Match"?: components["parameters"]["IfMatchParam"];
                /** @description Only if the current state has none of these ETags, or `*` if there is nothing. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchParam"];
            };
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GroupSettings"];
            };
        };
        responses: {
            /** @description The group existed and has these settings now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Group"];
                };
            };
            /** @description The group was created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Group"];
                };
            };
            400: components["responses"]["BadTopicBody"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            412: components["responses"]["GroupPrecondition"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            503: components["responses"]["NotStored"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    deleteGroup: {
        parameters: {
            query?: {
                /** @description Delete also what is in use. */
                force?: components["parameters"]["ForceParam"];
            };
            header?: {
                /** @description Only if the topic has one of these ETags, or `*` for any. */
                "If-Match"?: components["parameters"]["IfMatchParam"];
            };
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The group is gone. A group made later under the same name shares nothing with it. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadStream"];
            404: components["responses"]["NoGroup"];
            409: components["responses"]["GroupActive"];
            412: components["responses"]["StaleVersion"];
            503: components["responses"]["NotReady"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    updateGroup: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only if the topic has one of these ETags, or `*` for any. */
                "If-Match"?: components["parameters"]["IfMatchParam"];
            };
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GroupSettings"];
            };
        };
        responses: {
            /** @description The group as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Group"];
                };
            };
            400: components["responses"]["BadTopicBody"];
            404: components["responses"]["NoGroup"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            412: components["responses"]["StaleVersion"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            503: components["responses"]["NotStored"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    listSubscriptions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The topics by name. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupSubscriptionList"];
                };
            };
            400: components["responses"]["BadName"];
            404: components["responses"]["NoGroup"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    getSubscription: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only if the current state has none of these ETags, or `*` if there is nothing. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchParam"];
            };
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings; their defaults where none were made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupSubscription"];
                };
            };
            /** @description They still have the ETag of `If-None-Match`. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadNameOrHeader"];
            404: components["responses"]["NoGroupOrTopic"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    updateSubscription: {
        parameters: {
            query?: never;
            header?: {
                /** @description Only if the topic has one of these ETags, or `*` for any. */
                "If-Match"?: components["parameters"]["IfMatchParam"];
            };
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubscriptionSettings"];
            };
        };
        responses: {
            /** @description The settings as they are now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupSubscription"];
                };
            };
            400: components["responses"]["BadTopicBody"];
            404: components["responses"]["NoGroupOrTopic"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            412: components["responses"]["StaleVersion"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            503: components["responses"]["NotStored"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    listMembers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The members by id. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberList"];
                };
            };
            400: components["responses"]["BadName"];
            404: components["responses"]["NoGroup"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    joinGroup: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 visible ASCII characters that name this request. The same key and body within the window of `getInfo` give
                 *     the first answer again, with `Idempotent-Replayed: true`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKeyParam"];
            };
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JoinRequest"];
            };
        };
        responses: {
            /** @description The same member as before. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Membership"];
                };
            };
            /** @description A new member. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Membership"];
                };
            };
            400: components["responses"]["BadTopicBody"];
            403: components["responses"]["AddressDenied"];
            404: components["responses"]["NoGroupOrTopicQueue"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["JoinConflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["KeyReused"];
            503: components["responses"]["GroupUnavailable"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    leaveGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
                /** @description The member's id. */
                member: components["parameters"]["MemberParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is no member. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadName"];
            404: components["responses"]["NoGroup"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    heartbeatMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
                /** @description The member's id. */
                member: components["parameters"]["MemberParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HeartbeatRequest"];
            };
        };
        responses: {
            /** @description What the member has now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatResult"];
                };
            };
            400: components["responses"]["BadGroupBody"];
            404: components["responses"]["NoMember"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["HeartbeatConflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            503: components["responses"]["GroupUnavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    pollMember: {
        parameters: {
            query?: {
                /** @description `base64` gives every body in base64; `text` gives text bodies as text. */
                encoding?: components["parameters"]["EncodingParam"];
            };
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
                /** @description The member's id. */
                member: components["parameters"]["MemberParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PollRequest"];
            };
        };
        responses: {
            /** @description Messages, perhaps none. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PollResult"];
                };
            };
            400: components["responses"]["BadPoll"];
            404: components["responses"]["NoMember"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["SessionTaken"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            503: components["responses"]["GroupUnavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    seekMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
                /** @description The member's id. */
                member: components["parameters"]["MemberParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SeekRequest"];
            };
        };
        responses: {
            /** @description The queue's offset before and now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OffsetChange"];
                };
            };
            400: components["responses"]["BadGroupBody"];
            404: components["responses"]["NoMemberOrQueue"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["SeekConflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["OffsetOutside"];
            503: components["responses"]["GroupUnavailable"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    listAssignments: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The queues by topic and number. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssignmentList"];
                };
            };
            400: components["responses"]["BadName"];
            404: components["responses"]["NoGroup"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    receiveMessages: {
        parameters: {
            query?: {
                /** @description `base64` gives every body in base64; `text` gives text bodies as text. */
                encoding?: components["parameters"]["EncodingParam"];
            };
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReceiveRequest"];
            };
        };
        responses: {
            /** @description Messages, perhaps none. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiveResult"];
                };
            };
            400: components["responses"]["BadBodyOrParameter"];
            404: components["responses"]["NoGroupOrTopic"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["ReceiveConflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            503: components["responses"]["GroupUnavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    ackMessages: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AckRequest"];
            };
        };
        responses: {
            /** @description All are finished. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiptResults"];
                };
            };
            /** @description Some are finished. */
            207: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiptResults"];
                };
            };
            400: components["responses"]["BadReceipts"];
            404: components["responses"]["NoGroup"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["ReceiptConflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            503: components["responses"]["GroupUnavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    nackMessages: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NackRequest"];
            };
        };
        responses: {
            /** @description All come again. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiptResults"];
                };
            };
            /** @description Some come again. */
            207: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiptResults"];
                };
            };
            400: components["responses"]["BadReceipts"];
            404: components["responses"]["NoGroup"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["ReceiptConflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            503: components["responses"]["GroupUnavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    extendMessages: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExtendRequest"];
            };
        };
        responses: {
            /** @description All are extended. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiptResults"];
                };
            };
            /** @description Some are extended. */
            207: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiptResults"];
                };
            };
            400: components["responses"]["BadReceipts"];
            404: components["responses"]["NoGroup"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["ReceiptConflict"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            503: components["responses"]["GroupUnavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listRetries: {
        parameters: {
            query?: {
                /** @description `waiting` (the default) or `due`. */
                state?: components["parameters"]["RetryStateParam"];
                /** @description `base64` gives every body in base64; `text` gives text bodies as text. */
                encoding?: components["parameters"]["EncodingParam"];
                /** @description At most so many items. */
                limit?: components["parameters"]["LimitParam"];
                /** @description The `next_page_token` of the page before. */
                page_token?: components["parameters"]["PageTokenParam"];
            };
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FailedMessageList"];
                };
            };
            400: components["responses"]["BadTopicQuery"];
            404: components["responses"]["NoGroup"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    listDeadLetters: {
        parameters: {
            query?: {
                /** @description Only messages that were sent to this topic. */
                topic?: components["parameters"]["OriginTopicParam"];
                /** @description Only with this reason. */
                reason?: components["parameters"]["ReasonParam"];
                /** @description The id of the message. */
                message_id?: components["parameters"]["MessageIdParam"];
                /** @description Only those that became dead letters at this time or later. */
                from?: components["parameters"]["DeadFromParam"];
                /** @description Only those that became dead letters before this time. */
                to?: components["parameters"]["DeadToParam"];
                /** @description `base64` gives every body in base64; `text` gives text bodies as text. */
                encoding?: components["parameters"]["EncodingParam"];
                /** @description At most so many items. */
                limit?: components["parameters"]["LimitParam"];
                /** @description The `next_page_token` of the page before. */
                page_token?: components["parameters"]["PageTokenParam"];
            };
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FailedMessageList"];
                };
            };
            400: components["responses"]["BadTopicQuery"];
            404: components["responses"]["NoGroup"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    redriveDeadLetters: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RedriveRequest"];
            };
        };
        responses: {
            /** @description What was done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HandledDeadLetters"];
                };
            };
            400: components["responses"]["BadGroupBody"];
            404: components["responses"]["NoGroup"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            503: components["responses"]["GroupUnavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    purgeDeadLetters: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeadLetterSelection"];
            };
        };
        responses: {
            /** @description What was done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HandledDeadLetters"];
                };
            };
            400: components["responses"]["BadGroupBody"];
            404: components["responses"]["NoGroup"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            503: components["responses"]["GroupUnavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    listOffsets: {
        parameters: {
            query?: {
                /** @description Only this topic. */
                topic?: components["parameters"]["OffsetTopicParam"];
                /** @description Broadcasting groups: only the progress of this client. */
                client_id?: components["parameters"]["ClientIdParam"];
            };
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The queues by topic and number. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupOffsetList"];
                };
            };
            400: components["responses"]["BadTopicQuery"];
            404: components["responses"]["NoGroupOrTopic"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    commitOffsets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CommitRequest"];
            };
        };
        responses: {
            /** @description All are accepted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommitResult"];
                };
            };
            /** @description Some are accepted. */
            207: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommitResult"];
                };
            };
            400: components["responses"]["BadGroupBody"];
            404: components["responses"]["NoCommitTarget"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["CommitConflict"];
            412: components["responses"]["OffsetVersion"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["OffsetBeyond"];
            503: components["responses"]["GroupUnavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    exportOffsets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The offsets. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OffsetExport"];
                };
            };
            400: components["responses"]["BadName"];
            404: components["responses"]["NoGroup"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    resetOffsets: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 visible ASCII characters that name this request. The same key and body within the window of `getInfo` give
                 *     the first answer again, with `Idempotent-Replayed: true`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKeyParam"];
            };
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResetRequest"];
            };
        };
        responses: {
            /** @description Old and new offsets by queue. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResetResult"];
                };
            };
            400: components["responses"]["BadTopicBody"];
            404: components["responses"]["NoGroupOrTopicQueue"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["KeyInFlight"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ResetRefused"];
            503: components["responses"]["GroupUnavailable"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    updateGroupQueue: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The group's name. */
                group: components["parameters"]["GroupParam"];
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
                /** @description The number of a queue, from 0. */
                queue: components["parameters"]["QueueParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GroupQueueSettings"];
            };
        };
        responses: {
            /** @description The queue as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupOffset"];
                };
            };
            400: components["responses"]["BadBodyOrParameter"];
            404: components["responses"]["NoGroupQueue"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            503: components["responses"]["GroupUnavailable"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    streamMessages: {
        parameters: {
            query?: {
                /** @description Only these queues, separated by commas. */
                queues?: components["parameters"]["QueuesParam"];
                /** @description The earliest message that is kept, or the end of the queue. */
                position?: components["parameters"]["PositionParam"];
                /** @description The first message stored at or after this time. */
                timestamp?: components["parameters"]["TimestampParam"];
                /** @description Only messages with one of these tags: `paid || refunded`. `*` = all. */
                tags?: components["parameters"]["TagsParam"];
                /** @description Only messages that meet this SQL92 condition over their properties; `TAGS` is the tag, `KEYS` the keys. Not together with `tags`. What cannot be compiled is refused with the position. */
                sql?: components["parameters"]["SqlParam"];
                /** @description `base64` gives every body in base64; `text` gives text bodies as text. */
                encoding?: components["parameters"]["EncodingParam"];
            };
            header?: {
                /** @description The id of the last event seen; the stream goes on after it. */
                "Last-Event-ID"?: components["parameters"]["LastEventIDParam"];
            };
            path: {
                /** @description The topic's name. */
                topic: components["parameters"]["TopicParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream that ends only with the connection, an `error` event or the server's stop. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["EventStream"];
                };
            };
            400: components["responses"]["BadStream"];
            404: components["responses"]["NoTopic"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    beginTransaction: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 visible ASCII characters that name this request. The same key and body within the window of `getInfo` give
                 *     the first answer again, with `Idempotent-Replayed: true`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKeyParam"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TransactionRequest"];
            };
        };
        responses: {
            /** @description The transaction is open. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Transaction"];
                };
            };
            400: components["responses"]["BadTransaction"];
            404: components["responses"]["NoTopic"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["KeyInFlight"];
            413: components["responses"]["SendTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["SendRefused"];
            429: components["responses"]["ManyTransactions"];
            503: components["responses"]["NotStored"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    getTransaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `transaction_id`. */
                transaction: components["parameters"]["TransactionParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The transaction. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Transaction"];
                };
            };
            400: components["responses"]["BadParameters"];
            404: components["responses"]["NoTransaction"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    listTransactionMessages: {
        parameters: {
            query?: {
                /** @description `base64` gives every body in base64; `text` gives text bodies as text. */
                encoding?: components["parameters"]["EncodingParam"];
            };
            header?: never;
            path: {
                /** @description The `transaction_id`. */
                transaction: components["parameters"]["TransactionParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of its messages, by topic and queue. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionMessageList"];
                };
            };
            400: components["responses"]["BadQuery"];
            404: components["responses"]["NoTransaction"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["TransactionDecided"];
            410: components["responses"]["DamagedTransaction"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    commitTransaction: {
        parameters: {
            query?: {
                /** @description Commit it although it has expired; for people who know that it should have been. */
                force?: components["parameters"]["ForceCommitParam"];
            };
            header?: never;
            path: {
                /** @description The `transaction_id`. */
                transaction: components["parameters"]["TransactionParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is committed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Transaction"];
                };
            };
            400: components["responses"]["BadQuery"];
            404: components["responses"]["NoTransaction"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["TransactionDecided"];
            503: components["responses"]["NotReady"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    rollbackTransaction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `transaction_id`. */
                transaction: components["parameters"]["TransactionParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is rolled back. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Transaction"];
                };
            };
            400: components["responses"]["BadParameters"];
            404: components["responses"]["NoTransaction"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["TransactionDecided"];
            503: components["responses"]["NotReady"];
            504: components["responses"]["OutcomeUnknown"];
            default: components["responses"]["Unexpected"];
        };
    };
    listTransactions: {
        parameters: {
            query?: {
                /** @description Only transactions in this state. */
                state?: components["parameters"]["TransactionStateParam"];
                /** @description At most so many items. */
                limit?: components["parameters"]["LimitParam"];
                /** @description The `next_page_token` of the page before. */
                page_token?: components["parameters"]["PageTokenParam"];
            };
            header?: never;
            path: {
                /** @description The name of the producer group. */
                group: components["parameters"]["ProducerGroupParam"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionList"];
                };
            };
            400: components["responses"]["BadTopicQuery"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["NotReady"];
            default: components["responses"]["Unexpected"];
        };
    };
    pollChecks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of the producer group. */
                group: components["parameters"]["ProducerGroupParam"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckRequest"];
            };
        };
        responses: {
            /** @description Checks, perhaps none. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckList"];
                };
            };
            400: components["responses"]["BadGroupBody"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            503: components["responses"]["GroupUnavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    createTicket: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 visible ASCII characters that name this request. The same key and body within the window of `getInfo` give
                 *     the first answer again, with `Idempotent-Replayed: true`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKeyParam"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TicketRequest"];
            };
        };
        responses: {
            /** @description A ticket for `GET /v1/ws?ticket=`. It works once, until it expires. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            400: components["responses"]["BadBodyOrHeader"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["KeyInFlight"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["KeyReused"];
            503: components["responses"]["Busy"];
            default: components["responses"]["Unexpected"];
        };
    };
    openWebSocket: {
        parameters: {
            query?: {
                /** @description A ticket of `createTicket`. */
                ticket?: components["parameters"]["TicketParam"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The connection is a WebSocket now. */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadUpgrade"];
            403: components["responses"]["OriginDenied"];
            426: components["responses"]["UpgradeRequired"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Unexpected"];
        };
    };
    getCluster: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The cluster as this gateway sees it. Parts that cannot be asked now say so in their health. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cluster"];
                };
            };
            400: components["responses"]["BadParameters"];
            406: components["responses"]["NotAcceptable"];
            503: components["responses"]["Stopping"];
            default: components["responses"]["Unexpected"];
        };
    };
}
