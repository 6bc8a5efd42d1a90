/** Adds, updates and removes plugins for the page: a job that runs `archivolt plugin` while the server runs. */
import { type App, defineTask, errors, runProgram, say, Type, type Words } from 'archivolt'

export const changePlugins = defineTask({
  name: 'change_plugins',
  title: 'Add or remove a plugin',
  description: 'Adds, updates or removes a plugin, for the next start of the server.',
  group: 'setting:plugin',
  payload: Type.Object({ action: Type.Enum(['add', 'update', 'remove']), what: Type.String() }),
  lane: 'plugins',
  apiStop: true,
  // The command completes an interrupted change.
  resumable: true,
  unique: ({ action, what }) => `${action} ${what}`,
  async run({ payload: { action, what }, stopSignal, progress }, { settings }: App) {
    progress(0.1, WORDS[action](what))
    const { code, complaint } = await runProgram(['plugin', action, what], {
      ...{ dataDir: settings.dataDir, signal: stopSignal, isOnline: true },
      env: { AV_PLUGINS_DIR: settings.pluginsDir.join(','), AV_PLUGINS_OFF: settings.pluginsOff.join(',') },
    })
    if (code !== 0) throw errors.unprocessable(reasonIn(complaint))
    return DONE[action](what)
  },
})

/** The reason is the last line, which is the sentence that `archivolt` ends with. */
function reasonIn(complaint: string): Words {
  const last = complaint.trim().split('\n').at(-1)!
  return last.replace(/^Archivolt could not finish plugin \w+\. /, '') || say`The command was stopped`
}

const WORDS = {
  add: (name: string) => say`Adding the plugin ${{ name }}`,
  update: (name: string) => say`Updating the plugin ${{ name }}`,
  remove: (name: string) => say`Removing the plugin ${{ name }}`,
}
const DONE = {
  add: (name: string) => say`The plugin ${{ name }} was added: restart the server to start it`,
  update: (name: string) => say`The plugin ${{ name }} was updated: restart the server to start the new version`,
  remove: (name: string) => say`The plugin ${{ name }} was removed: it runs until the server is restarted`,
}

type Change = { action: keyof typeof WORDS; what: string }

/** @throws permission_denied: AV_PLUGINS_ADD forbids it */
export async function startChange(change: Change, { jobs, settings }: App): Promise<{ task_id: string }> {
  if (!settings.pluginsAdd)
    throw errors.permissionDenied('The setting AV_PLUGINS_ADD forbids changes of plugins on the page')
  const { id } = await jobs.start(changePlugins, change)
  return { task_id: id }
}
