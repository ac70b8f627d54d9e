/** The property that holds where the reply to a message goes. */
export const replyToProperty = "__reply_to";
