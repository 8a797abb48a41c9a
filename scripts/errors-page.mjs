// Writes docs/errors.md from the two tables of errors, after a build.
import { writeFileSync } from 'node:fs'
import { errorsPage, PAGE } from '../build/test/support/errors-page.js'

writeFileSync(PAGE, errorsPage())
