import { Type } from '@sinclair/typebox'
import { tool, ToolError } from '../../app.js'
import { PNG, WAV } from './samples.js'

// The first tool of the list is called with no arguments at all, and this one sorts first: every rule holds for {}.
const CONTACT = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } }
    }
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' }
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }, { not: { required: ['contactMethod'] } }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { dependentRequired: { contactMethod: ['email'] } },
  additionalProperties: false
}

/** Tools that show one kind of content each, and the ones whose input schema is what matters. */
export const contentTools = [
  tool({
    name: 'test_simple_text',
    description: 'Answers with text.',
    run: () => 'This is a simple text response for testing.'
  }),
  tool({
    name: 'test_image_content',
    description: 'Answers with an image.',
    run: () => ({ type: 'image', data: PNG, mimeType: 'image/png' })
  }),
  tool({
    name: 'test_audio_content',
    description: 'Answers with audio.',
    run: () => ({ type: 'audio', data: WAV, mimeType: 'audio/wav' })
  }),
  tool({
    name: 'test_embedded_resource',
    description: 'Answers with an embedded resource.',
    run: () => embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource.')
  }),
  tool({
    name: 'test_multiple_content_types',
    description: 'Answers with text, an image and a resource.',
    run: () => [
      { type: 'text', text: 'Several kinds of content:' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}')
    ]
  }),
  tool({
    name: 'test_error_handling',
    description: 'Always fails.',
    run: () => { throw new ToolError('This tool fails on purpose.') }
  }),
  tool({
    name: 'json_schema_2020_12_tool',
    description: 'Has an input schema that uses much of JSON Schema 2020-12.',
    input: CONTACT,
    run: input => `Called with ${JSON.stringify(input)}`
  }),
  tool({
    name: 'test_x_mcp_header',
    description: 'Has an argument that is repeated in an HTTP header.',
    input: Type.Object({ region: Type.Optional(Type.String({ 'x-mcp-header': 'Region' })) }),
    run: ({ region = 'nowhere' }) => `Called for ${region}`
  })
]

const embedded = (uri: string, mimeType: string, text: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text }
})
