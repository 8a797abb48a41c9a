/** What the user answered to `elicitation/create`. */
export interface ElicitAnswer { action: 'accept' | 'decline' | 'cancel', content?: Record<string, unknown> }

/** The same for an author: there is content where a form was accepted, and nowhere else. */
export type ElicitResult<Content = Record<string, unknown>> =
  | { action: 'accept', content: Content }
  | { action: 'decline' | 'cancel', content?: undefined }

/** What the client's model answered to `sampling/createMessage`. */
export interface SampleAnswer { role: 'user' | 'assistant', content: unknown, model: string, stopReason?: string }

/** A folder the client works in, from the answer to `roots/list`. */
export interface Root { uri: string, name?: string }
