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
         * Find messages by id, or by time and tag
         * @description Give either `message_id`, or `from` (and perhaps `to` and `tag`). A request examines a bounded part of the topic:
         *     `scanned_until` says how far it came; go on with `next_page_token` while there is one, also after an empty page.
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
         *         "ticket_ttl_ms": 60000
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
         *       "ticket_ttl_ms": 60000
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
         * @description What a topic is for. `normal` holds plain messages, `fifo` ordered ones, `mixed` any.
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
        /** @description Only names that begin like this. */
        PrefixParam: string;
        /** @description At most so many items. */
        LimitParam: number;
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
        /** @description When to answer. */
        AckParam: components["schemas"]["Ack"];
        /** @description With `producer_epoch` and `producer_seq`, the producer's identity (see Producer). */
        ProducerIdParam: string;
        /** @description The producer's epoch. */
        ProducerEpochParam: number;
        /** @description The producer's number of this request. */
        ProducerSeqParam: number;
        /** @description The id of the message. */
        MessageIdParam: string;
        /** @description Only messages stored at or after this time. */
        FromParam: string;
        /** @description Only messages stored before this time; now when left out. */
        ToParam: string;
        /** @description Only these queues, separated by commas. */
        QueuesParam: number[];
        /** @description A ticket of `createTicket`. */
        TicketParam: string;
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
            413: components["responses"]["SendTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["SendRefused"];
            503: components["responses"]["NotStored"];
            504: components["responses"]["OutcomeUnknown"];
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
                /** @description When to answer. */
                ack?: components["parameters"]["AckParam"];
                /** @description With `producer_epoch` and `producer_seq`, the producer's identity (see Producer). */
                producer_id?: components["parameters"]["ProducerIdParam"];
                /** @description The producer's epoch. */
                producer_epoch?: components["parameters"]["ProducerEpochParam"];
                /** @description The producer's number of this request. */
                producer_seq?: components["parameters"]["ProducerSeqParam"];
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
            413: components["responses"]["SendTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["SendRefused"];
            503: components["responses"]["NotStored"];
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
