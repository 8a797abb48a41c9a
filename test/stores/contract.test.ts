import t from 'tap'
import type { StoreObserver } from '../../protocol/store.js'
import { memoryStore } from '../../stores/memory/store.js'
import { observeStore } from '../../stores/observed.js'
import { contract, sharedContract } from './contract.js'
import { onDisk } from '../support/environment/on-disk.js'

contract(t, 'memory', async () => ({ store: memoryStore(), pause: async () => {} }))
const IGNORE: StoreObserver = { operation: () => {}, appended: () => {}, replayed: () => {}, messageSent: () => {} }

contract(t, 'memory, measured', async () => ({ store: observeStore(memoryStore(), IGNORE), pause: async () => {} }))
contract(t, 'disk', async t => await onDisk(t))
contract(t, 'disk, closed and opened again', async t => await onDisk(t, true))
sharedContract(t, 'disk', async t => await onDisk(t))
