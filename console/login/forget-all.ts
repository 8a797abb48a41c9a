import { createContext } from 'preact'

/** Forgets the credential and everything that this page saw with it. The start of the page provides it. */
export const ForgetAll = createContext<() => void>(() => {})
