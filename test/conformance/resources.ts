import { resource } from '../../app.js'
import { PNG } from './samples.js'

/** Resources to read, one family of them, and one to watch. */
export const resources = [
  resource({
    uri: 'test://static-text',
    name: 'Static text',
    description: 'A text that never changes.',
    mimeType: 'text/plain',
    read: () => 'This is the content of the static text resource.'
  }),
  resource({
    uri: 'test://static-binary',
    name: 'Static bytes',
    description: 'An image that never changes.',
    mimeType: 'image/png',
    read: () => Buffer.from(PNG, 'base64')
  }),
  resource({
    uri: 'test://template/{id}/data',
    name: 'Data by id',
    description: 'Data for any id.',
    mimeType: 'application/json',
    read: ({ id }) => ({ id, templateTest: true, data: `Data for ID: ${id}` })
  }),
  resource({
    uri: 'test://watched-resource',
    name: 'Watched text',
    description: 'A text to subscribe to.',
    mimeType: 'text/plain',
    read: () => 'This is the content of the watched resource.'
  })
]
