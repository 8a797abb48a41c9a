import { prompt } from '../protocol/definitions/prompt.js'

const STYLES = ['formal', 'casual']

export default prompt({
  name: 'greeting',
  title: 'Greeting',
  description: 'Generate a personalized greeting',
  arguments: {
    name: { description: 'Name of the person to greet', required: true },
    style: {
      description: 'Greeting style (formal/casual)',
      complete: typed => STYLES.filter(style => style.startsWith(typed))
    }
  },
  get: ({ name, style = 'casual' }) => `Please greet ${name} in a ${style} style.`
})
