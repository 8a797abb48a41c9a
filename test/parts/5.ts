import { runPart } from '../all.js'

await runPart(4)
