/** How far a call is, and how much there is, where the server says that. */
interface Progress { readonly progress: number, readonly total?: number | undefined }

/** From 0 to 1; undefined where the server does not say how much there is. */
export function shareOf ({ progress, total }: Progress): number | undefined {
  return total === undefined || !(total > 0) ? undefined : Math.min(1, Math.max(0, progress / total))
}

/** `33 %`, or how far it is where the end is not known: `7 so far`. */
export function progressInWords (progress: Progress): string {
  const share = shareOf(progress)
  return share === undefined ? `${progress.progress.toLocaleString()} so far` : `${Math.floor(share * 100)} %`
}
