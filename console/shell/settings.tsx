import { Dialog } from '../parts/dialog.js'
import { shortcuts, theme, type Theme } from '../state/settings.js'

const THEMES: Record<Theme, string> = { system: 'As the system', light: 'Light', dark: 'Dark' }

/** Choices that this browser keeps. */
export function Settings ({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title='Settings' onClose={onClose}>
      <fieldset class='stack'>
        <legend>Colours</legend>
        <div class='row'>
          {Object.entries(THEMES).map(([value, words]) => (
            <label key={value} class='choice'><input type='radio' name='theme' checked={theme.value === value} onChange={() => { theme.value = value as Theme }} /> {words}</label>
          ))}
        </div>
      </fieldset>
      <label class='choice'>
        <input type='checkbox' checked={shortcuts.value === 'on'} onChange={event => { shortcuts.value = event.currentTarget.checked ? 'on' : 'off' }} /> The key <kbd>/</kbd> goes to the filter
      </label>
      <div class='row'><button type='button' class='primary' autofocus onClick={onClose}>Done</button></div>
    </Dialog>
  )
}
