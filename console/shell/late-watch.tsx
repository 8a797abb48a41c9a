import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Client } from '../client/contract.js'

const loaded = signal<ComponentType<{ client: Client | undefined }> | undefined>(undefined)
const failed = signal(false)

/** The view of operators, loaded when it is first opened: most visits do not need it. */
export function LateWatch ({ client }: { client: Client | undefined }) {
  useEffect(() => { if (loaded.value === undefined) void load() }, [])
  const Watch = loaded.value
  if (Watch !== undefined) return <Watch client={client} />
  return failed.value
    ? (
      <p class='note bad row spread'>
        This view could not be loaded.{' '}
        <button
          type='button'
          onClick={() => {
            void load()
          }}
        >
          Try again
        </button>
      </p>
      )
    : (
      <p class='quiet'>Loading…</p>
      )
}

async function load (): Promise<void> {
  failed.value = false
  try {
    loaded.value = (await import('../watch/watch.js')).Watch
  } catch {
    failed.value = true
  }
}
