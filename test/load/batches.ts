/** Works at the same time: fewer than the backlog of a listening socket. */
const AT_ONCE = 100

/** Does something so many times, some of them at once. */
export async function inBatches (count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (next < count) await work(next++)
  }))
}
