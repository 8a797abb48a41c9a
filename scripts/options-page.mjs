// Writes the tables of docs/configure.md, and docs/config.schema.json, from options.ts, after a build.
import { readFileSync, writeFileSync } from 'node:fs'
import { configSchema, SCHEMA_FILE } from '../build/test/support/config-schema.js'
import { optionsPage, PAGE } from '../build/test/support/options-page.js'

writeFileSync(PAGE, optionsPage(readFileSync(PAGE, 'utf8')))
writeFileSync(SCHEMA_FILE, configSchema())
