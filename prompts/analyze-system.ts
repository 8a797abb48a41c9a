import { text } from '../protocol/wire/content.js'
import { prompt } from '../protocol/definitions/prompt.js'

const AREAS = [
  'boot',
  'logging',
  'memory',
  'network',
  'performance',
  'processes',
  'security',
  'services',
  'storage',
  'users'
]

export default prompt({
  name: 'analyze_system',
  title: 'Analyze the system',
  description: 'Analyze current system state',
  arguments: {
    focus: {
      description: 'Area to focus on',
      required: false,
      complete: typed => AREAS.filter(area => area.startsWith(typed.toLowerCase()))
    }
  },
  get: ({ focus = '' }) => ({
    description: 'System analysis prompt',
    messages: [{ role: 'user', content: text(request(focus)) }]
  })
})

// Clients send an empty string for an argument that the user left out.
function request (focus: string): string {
  if (focus === '') return 'Analyze the current state of the system and identify any issues.'
  return `Analyze the ${focus} configuration and identify any issues.`
}
