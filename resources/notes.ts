import type { FastifyInstance } from 'fastify'
import { resource } from '../protocol/definitions/resource.js'

const PREFIX = 'note:///'
const MAX_TITLE = 60

export default async function noteResources ({
  mcp: { resources, notes, dispatcher }
}: FastifyInstance): Promise<void> {
  resources.add(
    resource({
      uri: 'note:///{id}',
      name: 'note',
      title: 'Note',
      scopes: ['notes:read'],
      description: 'A note, by its id',
      mimeType: 'text/plain',
      complete: {
        id: async (typed, _others, call) => (await notes.ids(call.principal)).filter(id => id.startsWith(typed))
      },
      list: async (after, size, call) => {
        const found = await notes.page(call.principal, after?.slice(PREFIX.length), size)
        return found.map(({ id, content }) => ({
          uri: PREFIX + id,
          name: `Note ${id}`,
          title: titleOf(content),
          mimeType: 'text/plain'
        }))
      },
      read: async ({ id }, call) => (await notes.get(call.principal, id))?.content
    })
  )
  notes.onChange((id, owner) => {
    resources.updated(PREFIX + id, principal => principal === owner)
    resources.listChanged(principal => principal === owner)
  })
  notes.onMissedChanges(() => {
    const subscribed = [...dispatcher.lifecycle.peers].flatMap(({ subscriptions }) =>
      [...subscriptions].filter(uri => uri.startsWith(PREFIX))
    )
    for (const uri of new Set(subscribed)) resources.updated(uri)
    resources.listChanged()
  })
}

function titleOf (content: string): string {
  const line = content.trim().split('\n')[0]?.trim() ?? ''
  const characters = [...line]
  return characters.length > MAX_TITLE ? `${characters.slice(0, MAX_TITLE - 1).join('')}…` : line
}
