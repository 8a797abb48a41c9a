/** Stands after the name of a field that has to be filled in; others have no mark. */
export function RequiredMark ({ required }: { required: boolean }) {
  return required ? <span class='quiet small'> required</span> : null
}
