/** Pages and player buttons of plugins that the account may see. Not requested if there are none. */
import { computed, effect, signal } from '@preact/signals'
import { get, isSignedIn } from '../server/api.ts'
import { connection } from '../server/events.ts'
import type { PluginPage } from '../server/records.ts'

const areSome = document.querySelector('meta[name="archivolt-plugin-pages"]') !== null

/** Undefined: still loading. */
const brought = signal<PluginPage[] | undefined>(areSome ? undefined : [])
const shownIn = (place: PluginPage['place']) => computed(() => brought.value?.filter((one) => one.place === place))

export const pluginPages = shownIn('navigation')
export const playerButtons = shownIn('player')

effect(() => {
  if (!areSome) return
  if (!isSignedIn.value) brought.value = undefined
  else if (brought.peek() === undefined && connection.value !== 'lost') read()
})

/** If there is no reply, the request is repeated once the server is reachable. */
function read(): void {
  get<PluginPage[]>('/api/plugin/page/').then(
    (pages) => void (brought.value = pages),
    () => undefined, // the frame reports that the server is unreachable
  )
}
