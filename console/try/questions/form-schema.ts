import { isObject, type JsonObject } from '../../client/contract.js'

/** The schema of an answer. An answer is an object, so a schema of anything else is taken for one of any object. */
export const formSchema = ({ requestedSchema }: JsonObject): JsonObject => ({ ...(isObject(requestedSchema) ? requestedSchema : {}), type: 'object' })
