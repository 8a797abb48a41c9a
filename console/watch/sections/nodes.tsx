import { ServerText } from '../../parts/server-text.js'
import { Section, type SectionProps } from './section.js'

/** Which of the gateways that share a store this page is about. */
export function NodesSection ({ feed }: SectionProps) {
  const nodes = feed.nodes.value
  return (
    <Section title='Node'>
      <p class='quiet'>
        {nodes.length === 0
          ? 'This gateway shares its store with no other.'
          : 'Others may share its store; this page shows what this one does.'}
      </p>
      <ul class='watch-rows'>
        {nodes.map(({ id, self }) => (
          <li key={id}>
            <code>
              <ServerText text={id} />
            </code>{' '}
            {self ? <span class='badge good'>this one</span> : null}
          </li>
        ))}
      </ul>
    </Section>
  )
}
