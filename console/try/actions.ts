import { signal } from '@preact/signals'
import { isObject, type Json, type JsonObject } from '../client/contract.js'
import { startCall, type Call, type CallRequest } from '../state/calls.js'
import { client } from '../state/connection.js'
import { lists, type Item } from '../state/lists.js'

/** A call that waits until a person has confirmed it. */
export const unconfirmed = signal<CallRequest | undefined>(undefined)

export const toolCall = ({ key, raw: { inputSchema } }: Item, args: Json): CallRequest => ({
  kind: 'tool',
  key,
  method: 'tools/call',
  params: { name: key, arguments: args },
  inputSchema
})

export const promptCall = (key: string, args: JsonObject): CallRequest => ({
  kind: 'prompt',
  key,
  method: 'prompts/get',
  params: { name: key, arguments: args }
})

export const resourceCall = (uri: string): CallRequest => ({
  kind: 'resource',
  key: uri,
  method: 'resources/read',
  params: { uri }
})

/** Reads what a template names when it is filled in with `variables`. */
export const templateCall = (key: string, uri: string, variables: ReadonlyMap<string, string>): CallRequest => ({
  kind: 'template',
  key,
  method: 'resources/read',
  params: { uri },
  variables
})

/** Makes a call, or asks first when the tool says that it destroys something. */
export function makeCall (request: CallRequest): void {
  if (request.kind === 'tool' && isDestructive(itemOf(request)?.raw ?? {})) unconfirmed.value = request
  else callNow(request)
}

/** Makes a call without asking. Nothing happens while there is no connection. */
export function callNow (request: CallRequest): void {
  unconfirmed.value = undefined
  if (client.value !== undefined) startCall(client.value, request)
}

export const repeatCall = ({ kind, key, method, params, inputSchema, variables }: Call): void =>
  makeCall({ kind, key, method, params, inputSchema, ...(variables === undefined ? {} : { variables }) })

export const itemOf = ({ kind, key }: Pick<CallRequest, 'kind' | 'key'>): Item | undefined =>
  lists[kind].value.items.find(item => item.key === key)

interface Hint { words: string, tone: '' | 'good' | 'warn' | 'bad' }

/** Puts the annotations of a tool into words. Hints are the server's claims. */
export function hintsOf ({ annotations }: JsonObject): Hint[] {
  const { readOnlyHint, idempotentHint, openWorldHint } = isObject(annotations) ? annotations : {}
  const hints: Hint[] = []
  if (readOnlyHint === true) hints.push({ words: 'reads only', tone: 'good' })
  else if (isDestructive({ annotations: annotations ?? null })) hints.push({ words: 'destructive', tone: 'bad' })
  if (readOnlyHint === false && isObject(annotations) && annotations.destructiveHint === false) {
    hints.push({ words: 'changes things', tone: 'warn' })
  }
  if (idempotentHint === true && readOnlyHint !== true) hints.push({ words: 'safe to repeat', tone: '' })
  if (openWorldHint === true) hints.push({ words: 'reaches outside', tone: 'warn' })
  return hints
}

/** True for a tool that says it destroys something. One that says nothing does not ask for a confirmation each time. */
export function isDestructive ({ annotations }: JsonObject): boolean {
  return isObject(annotations) && annotations.destructiveHint === true && annotations.readOnlyHint !== true
}
