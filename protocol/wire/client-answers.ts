/** What the user answered to `elicitation/create`. */
export interface ElicitAnswer<Content = Record<string, unknown>> { action: 'accept' | 'decline' | 'cancel', content?: Content }

/** What the client's model answered to `sampling/createMessage`. */
export interface SampleAnswer { role: 'user' | 'assistant', content: unknown, model: string, stopReason?: string }

/** A folder the client works in, from the answer to `roots/list`. */
export interface Root { uri: string, name?: string }
