type Json = Record<string, unknown>

const tool = (more: Json): Json => ({ name: 'odd', inputSchema: { type: 'object' }, ...more })
const input = (inputSchema: unknown): Json => tool({ inputSchema })
const output = (outputSchema: unknown): Json => tool({ outputSchema })
const draft = (number: string, more: Json): Json => ({ $schema: `http://json-schema.org/draft-0${number}/schema#`, type: 'object', ...more })

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
  'an optional task': tool({ execution: { taskSupport: 'optional' } }),
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
  'a name of 130 characters': { ...tool({}), name: 'x'.repeat(130) },
  'a name with spaces': { ...tool({}), name: 'my tool/ü' }
}

/** The same of the other kinds. */
export const PROMPTS: Readonly<Record<string, Json>> = {
  'description null': { name: 'odd', description: null },
  'an argument without a name': { name: 'odd', arguments: [{ description: 'x' }, { name: 'fine', required: 'yes', description: null }] },
  'arguments null': { name: 'odd', arguments: null }
}

export const RESOURCES: Readonly<Record<string, Json>> = {
  'mimeType null': { name: 'odd', uri: 'odd://1', mimeType: null },
  'annotations null': { name: 'odd', uri: 'odd://2', annotations: null },
  'a size in words': { name: 'odd', uri: 'odd://3', size: '12' },
  'a priority above 1': { name: 'odd', uri: 'odd://4', annotations: { priority: 5, audience: ['all'], lastModified: 'yesterday' } }
}

export const TEMPLATES: Readonly<Record<string, Json>> = {
  'mimeType null': { name: 'odd', uriTemplate: 'odd1://{a}', mimeType: null, description: 7 },
  'annotations in a list': { name: 'odd', uriTemplate: 'odd2://{a}', annotations: [], title: null }
}

/** What cannot be listed in any form that clients read. */
export const HOPELESS = {
  tools: [{ name: 'text-schema', inputSchema: 'x' }, { name: 'no-input', inputSchema: false }, { name: 'task', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' } }],
  prompts: [{ name: 'text-arguments', arguments: 'x' }],
  resources: [{ name: 'no-uri', uri: 'not a URI' }]
}
