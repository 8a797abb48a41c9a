import type { TargetName } from '../case.js'
import type { Plugin } from '../gateway.js'
import type { Target } from '../target.js'
import { openDispatcher } from './dispatcher.js'
import { openHttp } from './http.js'
import { openPrincipals } from './principals.js'
import { openProcess } from './process.js'
import { openStdio } from './stdio.js'
import { openWebSocket } from './websocket.js'

export type Open = (plugins?: Plugin[]) => Promise<Target>

export const open: Record<TargetName, Open> = {
  dispatcher: openDispatcher,
  http: openHttp,
  websocket: openWebSocket,
  stdio: openStdio,
  process: openProcess,
  principals: openPrincipals
}

/** How many conversations go on at the same time. A process has only one client. */
export const SIDE_BY_SIDE: Record<TargetName, number> = {
  dispatcher: 512,
  http: 64,
  websocket: 128,
  stdio: 256,
  process: 1,
  principals: 24
}
