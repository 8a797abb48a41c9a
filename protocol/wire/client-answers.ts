/** The answer of the user to `elicitation/create`. */
export interface ElicitAnswer { action: 'accept' | 'decline' | 'cancel', content?: Record<string, unknown> }

/** The answer as an author gets it: there is content where a form was accepted, and nowhere else. */
export type ElicitResult<Content = Record<string, unknown>> =
  | { action: 'accept', content: Content }
  | { action: 'decline' | 'cancel', content?: undefined }

/** The answer of the client's model to `sampling/createMessage`. */
export interface SampleAnswer { role: 'user' | 'assistant', content: unknown, model: string, stopReason?: string }

/** A folder the client works in, from the answer to `roots/list`. */
export interface Root { uri: string, name?: string }
