// Writes the tables of docs/configure.md from options.ts, after a build.
import { readFileSync, writeFileSync } from 'node:fs'
import { optionsPage, PAGE } from '../build/test/support/options-page.js'

writeFileSync(PAGE, optionsPage(readFileSync(PAGE, 'utf8')))
