import { Type } from '@sinclair/typebox'

/** A time in milliseconds that a timer of Node.js can wait. */
export const Milliseconds = (preset: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, default: preset, description })

/** A whole number above zero. */
export const Count = (preset: number, description: string) => Type.Integer({ minimum: 1, default: preset, description })
