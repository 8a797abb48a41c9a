import { Options } from '../../options.js'

export const SCHEMA_FILE = new URL('../../../docs/config.schema.json', import.meta.url)

/** docs/config.schema.json: the schema of a config file, for editors. */
export function configSchema (): string {
  const { properties, additionalProperties } = JSON.parse(
    JSON.stringify(Options, (key, value: unknown) => (key.startsWith('x-') ? undefined : value))
  ) as { properties: Record<string, object>, additionalProperties: false }
  return `${JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'The config file of Patchbay',
    type: 'object',
    properties: {
      $schema: { type: 'string', description: 'Where this schema is; ignored by the gateway' },
      ...properties,
      // Fastify plugins are for build() only.
      plugins: { ...properties['plugins'], items: { type: 'string' } }
    },
    additionalProperties
  }, null, 2)}\n`
}
