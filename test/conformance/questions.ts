/** A question with one required field. */
export const askFor = (field: string, message: string, type: 'string' | 'boolean' = 'string') => ({
  message,
  requestedSchema: { type: 'object', properties: { [field]: { type } }, required: [field] }
})

/** One message of the user for the client's model. */
export const say = (text: string, maxTokens = 100) => ({
  messages: [{ role: 'user', content: { type: 'text', text } }],
  maxTokens
})
