/** Pages that plugins bring, of those that the account may see. Where there are none, nobody is asked. */
import { effect, signal } from '@preact/signals'
import { get, isSignedIn } from '../server/api.ts'
import { connection } from '../server/events.ts'
import type { PluginPage } from '../server/records.ts'

const areSome = document.querySelector('meta[name="archivolt-plugin-pages"]') !== null

/** Undefined: they are on their way. */
export const pluginPages = signal<PluginPage[] | undefined>(areSome ? undefined : [])

effect(() => {
  if (!areSome) return
  if (!isSignedIn.value) pluginPages.value = undefined
  else if (pluginPages.peek() === undefined && connection.value !== 'lost') read()
})

/** Without an answer it is tried again once the server is back. */
function read(): void {
  get<PluginPage[]>('/api/plugin/page/').then(
    (pages) => void (pluginPages.value = pages),
    () => undefined, // the frame says that nothing answers
  )
}
