// Replaces a folder by a link to another one and back, as fast as it can, until standard input ends.
import { renameSync, symlinkSync, unlinkSync, writeSync } from 'node:fs'

const [, , folder, secrets] = process.argv
const aside = `${folder}-aside`
let ended = false
let swaps = 0
process.stdin.on('end', () => { ended = true }).resume()
writeSync(1, 'swapping\n')
swap()

function swap () {
  for (let round = 0; round < 20; round++) {
    renameSync(folder, aside)
    symlinkSync(secrets, folder)
    unlinkSync(folder)
    renameSync(aside, folder)
    swaps++
  }
  if (ended) writeSync(1, `${swaps}\n`)
  else setTimeout(swap, 2) // so that some reads fall between two swaps
}
