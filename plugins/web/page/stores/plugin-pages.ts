/** Pages and player buttons that plugins bring, of those that the account may see. Where there are none, nobody is asked. */
import { computed, effect, signal } from '@preact/signals'
import { get, isSignedIn } from '../server/api.ts'
import { connection } from '../server/events.ts'
import type { PluginPage } from '../server/records.ts'

const areSome = document.querySelector('meta[name="archivolt-plugin-pages"]') !== null

/** Undefined: they are on their way. */
const brought = signal<PluginPage[] | undefined>(areSome ? undefined : [])
const shownIn = (place: PluginPage['place']) => computed(() => brought.value?.filter((one) => one.place === place))

export const pluginPages = shownIn('navigation')
export const playerButtons = shownIn('player')

effect(() => {
  if (!areSome) return
  if (!isSignedIn.value) brought.value = undefined
  else if (brought.peek() === undefined && connection.value !== 'lost') read()
})

/** Without an answer it is tried again once the server is back. */
function read(): void {
  get<PluginPage[]>('/api/plugin/page/').then(
    (pages) => void (brought.value = pages),
    () => undefined, // the frame says that nothing answers
  )
}
