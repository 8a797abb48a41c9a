type Json = Record<string, unknown>

const tool = (more: Json): Json => ({ name: 'odd', inputSchema: { type: 'object' }, ...more })
const input = (inputSchema: unknown): Json => tool({ inputSchema })
const output = (outputSchema: unknown): Json => tool({ outputSchema })
const draft = (number: string, more: Json): Json => ({
  $schema: `http://json-schema.org/draft-0${number}/schema#`,
  type: 'object',
  ...more
})

/** Tools that some client refuses, or that other validators read otherwise. The gateway lists each of them. */
export const TOOLS: Readonly<Record<string, Json>> = {
  'no type': input({ $schema: 'http://json-schema.org/draft-07/schema#' }),
  'an empty schema': input({}),
  'a type in a list': input({ type: ['object'] }),
  'a type in upper case': input({ type: 'Object', properties: { a: { type: 'String' } } }),
  'no schema': { name: 'odd' },
  'a schema that is null': input(null),
  'properties null': input({ type: 'object', properties: null }),
  'properties in a list': input({ type: 'object', properties: [] }),
  'required null': input({ type: 'object', required: null }),
  'required of other things': input({ type: 'object', properties: { a: {} }, required: ['a', 'a', 7, null] }),
  'required in a property': input({ type: 'object', properties: { a: { type: 'string', required: true } } }),
  'a dangling required': input({ type: 'object', properties: { a: {} }, required: ['b'] }),
  'a dangling required without properties': input({ type: 'object', required: ['b'] }),
  'a property that is true': input({ type: 'object', properties: { a: true, b: false } }),
  'a property that is null': input({ type: 'object', properties: { a: null } }),
  'an unknown task support': tool({ execution: { taskSupport: 'sometimes' } }),
  'an execution that is null': tool({ execution: null }),
  'a dangling $ref in the input': input({ type: 'object', properties: { a: { $ref: '#/$defs/none' } } }),
  'a dangling $ref in the output': output({ type: 'object', properties: { a: { $ref: '#/$defs/none' } } }),
  'a $ref to another file': output({ type: 'object', properties: { a: { $ref: 'other.json#/a' } } }),
  'an exclusiveMinimum of draft-04': output({ type: 'object', properties: { a: { type: 'number', minimum: 1, exclusiveMinimum: true } } }),
  'an output that is null': output(null),
  'an output without type': output({ properties: { a: { type: 'string' } } }),
  'an output of type array': output({ type: 'array', items: { type: 'string' } }),
  'an output with an id': output({ id: 'x', type: 'object' }),
  'an output with $id': output({ $id: 'https://example.com/same', type: 'object', properties: { a: { $ref: 'https://example.com/same#/$defs/a' } }, $defs: { a: { type: 'string' } } }),
  'an output with the same $id': output({ $id: 'https://example.com/same', type: 'object', properties: { b: { type: 'number' } } }),
  'an output with nullable': output({ type: 'object', properties: { a: { nullable: true }, b: { type: 'string', nullable: true } } }),
  'an output with a wrong pattern': output({ type: 'object', properties: { a: { pattern: '[' } }, patternProperties: { '(': {} } }),
  'an output with a wrong enum': output({ type: 'object', properties: { a: { enum: null }, b: { enum: [] } } }),
  'an output of draft-03': output({ $schema: 'http://json-schema.org/draft-03/schema#', type: 'object', properties: { a: { type: 'any', required: true } } }),
  'an unknown dialect': output({ $schema: 'urn:other', type: 'object' }),
  'description null': tool({ description: null }),
  'title null': tool({ title: null }),
  'annotations null': tool({ annotations: null }),
  '_meta null': tool({ _meta: null }),
  '_meta a list': tool({ _meta: [] }),
  'a hint in words': tool({ annotations: { readOnlyHint: 'yes', title: 7 } }),
  'an icon without src': tool({ icons: [{ mimeType: 'image/png' }, { src: 'https://example.com/a.png', sizes: '48x48', theme: 'blue' }] }),
  'icons that are no list': tool({ icons: {} }),
  'a root anyOf': input({ anyOf: [{ type: 'object', properties: { kind: { const: 'a' }, x: { type: 'string' } }, required: ['kind'] }, { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] }] }),
  'a root oneOf': input({ type: 'object', oneOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { required: ['b'] }] }),
  'a root allOf': input({ type: 'object', allOf: [{ properties: { a: {} } }, { properties: { b: {} }, required: ['b'] }] }),
  'a root $ref': input({ ...draft('7', { $ref: '#/definitions/A', definitions: { A: { type: 'object', properties: { next: { $ref: '#/definitions/A' } } } } }) }),
  'a root that refers to itself': input({ $ref: '#' }),
  'definitions, items and dependencies of draft-07': input(draft('7', {
    properties: { a: { type: 'array', items: [{ type: 'string' }], additionalItems: false }, definitions: { $ref: '#/definitions/required', minLength: 7 } },
    definitions: { required: { type: 'string' } },
    dependencies: { a: ['definitions'], b: { required: ['a'] } }
  })),
  'ids of draft-04': input(draft('4', { id: 'https://example.com/root', properties: { a: { id: '#a', type: 'string' }, b: { $ref: '#a' } } })),
  'a $recursiveRef': input({ $schema: 'https://json-schema.org/draft/2019-09/schema', $recursiveAnchor: true, type: 'object', properties: { a: { $recursiveRef: '#' } } }),
  'an output that is checked later': output({ $async: true, type: 'object', properties: { a: { $async: true, type: 'string' } } }),
  'an output with limits of formats': output({ type: 'object', properties: { a: { formatMinimum: 'a' }, b: { format: 'email', formatMaximum: 'a' }, c: { format: 'date', formatExclusiveMinimum: 7 } } }),
  'an output with names in unknown keywords': output({
    type: 'object',
    'x-a': { $id: 'https://example.com/a', properties: { b: { $anchor: 'b' } } },
    'x-b': { c: { $id: 'https://example.com/a', x: 1 } },
    'x-c': { $anchor: '?' },
    'x-d': { $dynamicAnchor: 'not an anchor' },
    constructor: [{ $anchor: '?' }],
    example: { id: 'same', $ref: 'http://[' },
    properties: { a: { example: { id: 'same' } } }
  }),
  'an output with names in $vocabulary': output({ type: 'object', $vocabulary: { $id: 'https://example.com/a', $anchor: '?' } }),
  'an output with a $ref that has a wrong escape': output({ type: 'object', properties: { a: { $ref: '#/$defs/%zz' } }, $defs: { '%zz': { type: 'string' } } }),
  'an output with a $ref that has a line separator': output({ type: 'object', properties: { a: { $ref: '#/$defs/\u2028' } }, $defs: { '\u2028': { type: 'string' } } }),
  'an output with a $ref to a member without a name': output({ type: 'object', properties: { a: { $ref: '#/' } }, '': { type: 'string' } }),
  'names with half of a surrogate pair': {
    ...input({ type: 'object', properties: { '\ud800': { type: 'string' }, a: { $ref: '#/properties/\ud800' } } }),
    outputSchema: { type: 'object', properties: { '\udc00': {} }, patternProperties: { '\ud800': {} }, $defs: { '\ud800': {} }, dependentSchemas: { '\ud800': {} }, dependentRequired: { '\ud800': ['\ud800'] }, required: ['\ud800'], anyOf: [{ pattern: '\ud800' }], 'x-\ud800': {} }
  },
  'a name of 130 characters': { ...tool({}), name: 'x'.repeat(130) },
  'a name with spaces': { ...tool({}), name: 'my tool/ü' }
}

/** The same of the other kinds. */
export const PROMPTS: Readonly<Record<string, Json>> = {
  'description null': { name: 'odd', description: null },
  'an argument without a name': {
    name: 'odd',
    arguments: [{ description: 'x' }, { name: 'fine', required: 'yes', description: null }]
  },
  'arguments null': { name: 'odd', arguments: null }
}

/** Forms of `lastModified`. */
export const TIMES: readonly string[] = [
  '2023-02-28T10:00:00Z',
  '2024-02-29T10:00:00.123Z',
  '2000-02-29T00:00:00+00:00',
  '0000-02-29T23:59:59-23:59',
  '2023-12-31T23:59:59.999999999+05:00',
  '2023-02-30T10:00:00Z',
  '2023-02-29T10:00:00Z',
  '1900-02-29T10:00:00Z',
  '2023-04-31T10:00:00Z',
  '2023-13-01T10:00:00Z',
  '2023-00-01T10:00:00Z',
  '2023-01-00T10:00:00Z',
  '2023-01-32T10:00:00Z',
  '2023-01-01T24:00:00Z',
  '2023-01-01T10:60:00Z',
  '2023-01-01T10:00:60Z',
  '2023-01-01T10:00:00+0500',
  '2023-01-01T10:00:00+05',
  '2023-01-01T10:00:00+24:00',
  '2023-01-01T10:00:00+05:60',
  '2023-01-01T10:00Z',
  '2023-01-01T10:00+05:00',
  '2023-01-01T10:00:00',
  '2023-01-01',
  '2023-01-01 10:00:00Z',
  '2023-01-01t10:00:00z',
  '2023-01-01T10:00:00.Z',
  '2023-01-01T10:00:00,5Z',
  '+02023-01-01T10:00:00Z',
  '2023-01-01T10:00:00Z\n',
  'yesterday',
  ''
]

export const RESOURCES: Readonly<Record<string, Json>> = {
  'mimeType null': { name: 'odd', uri: 'odd://1', mimeType: null },
  'annotations null': { name: 'odd', uri: 'odd://2', annotations: null },
  'a size in words': { name: 'odd', uri: 'odd://3', size: '12' },
  'a priority above 1': {
    name: 'odd',
    uri: 'odd://4',
    annotations: { priority: 5, audience: ['all'], lastModified: 'yesterday' }
  },
  ...Object.fromEntries(
    TIMES.map((lastModified, index) => [
      `modified at ${lastModified}`,
      { name: 'odd', uri: `odd://time${index}`, annotations: { lastModified } }
    ])
  )
}

export const TEMPLATES: Readonly<Record<string, Json>> = {
  'mimeType null': { name: 'odd', uriTemplate: 'odd1://{a}', mimeType: null, description: 7 },
  'annotations in a list': { name: 'odd', uriTemplate: 'odd2://{a}', annotations: [], title: null }
}

/** What cannot be listed in any form that clients read. */
export const HOPELESS = {
  tools: [
    { name: 'text-schema', inputSchema: 'x' },
    { name: 'no-input', inputSchema: false }
  ],
  prompts: [{ name: 'text-arguments', arguments: 'x' }],
  resources: [{ name: 'no-uri', uri: 'not a URI' }]
}
