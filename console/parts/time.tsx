const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** A moment in the reader's own time zone. `at`: milliseconds since the epoch. */
export function Time ({ at }: { at: number }) {
  const date = new Date(at)
  return <time dateTime={date.toISOString()}>{CLOCK.format(date)}</time>
}
