/** Says that the caller has not the scope of operators. */
export function NotAllowed ({ what }: { what: string }) {
  return <p class='card'>This gateway does not let you {what}: that needs the scope <code>admin</code>.</p>
}
