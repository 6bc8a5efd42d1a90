/** The command line: lists the commands and their help, and runs what was typed. */

import type { PluginSettings } from '../../core/app.ts'
import { openLog } from '../../core/log.ts'
import type { AsideCommand, CommandInput } from '../../core/plugin/command.ts'
import manifest from '../../package.json' with { type: 'json' }
import { readCore, readSources } from '../load-settings.ts'
import { runAtRest } from './at-rest.ts'
import { openAddedPlugins } from './change-plugins.ts'
import { check } from './check.ts'
import { findBuiltIn, findPlugins, registerWhole } from './find-plugins.ts'
import { indexMove } from './index-move.ts'
import type { OwnCommand } from './own-command.ts'
import { rotateKey } from './rotate-key.ts'
import { readSecret } from './secret.ts'
import { setup } from './setup.ts'
import { commandsOf, type Described, familyOf, listOf, noSuchCommand, type Typed, understood } from './typed.ts'
import { runWatched } from './watch.ts'

const START: OwnCommand = {
  name: 'start',
  summary: 'Start the server (default)',
  options: {
    watch: { type: 'boolean', meaning: 'start again after each change of a plugin in AV_PLUGINS_DIR; for authors' },
  },
  run: () => Promise.resolve(),
}
const OWN: readonly OwnCommand[] = [START, setup, check, rotateKey, indexMove]

/**
 * Runs the typed command.
 * @param begin  called with its name
 * @returns whether to start the server
 * @throws a sentence
 */
export async function runCommand(typed: readonly string[], begin: (name: string) => void): Promise<'start' | 'done'> {
  const [first] = typed
  if (first === undefined) return 'start'
  if (first === '--version') return tell(`Archivolt ${manifest.version}`)
  const own = understood(OWN, typed)
  if (own) return await runOwn(own, begin)
  // External plugins are loaded only to list all commands, or for a command that is not built in.
  const core = readCore(readSources())
  const aside = await concurrentCommandsOf(core)
  const besides = understood(aside, typed)
  if (besides) return await run(besides, begin, (input) => besides.command.run(input, openAddedPlugins(core)))
  const ownFamily = familyOf<Described>([...OWN, ...aside], first)
  if (ownFamily.length > 0) return tellFamily(typed, ownFamily)
  const commands = commandsOf((await registerWhole(await findPlugins(core), core)).registry)
  if (first === '--help' || first === '-h' || first === 'help') return tell(allOf([...OWN, ...aside, ...commands]))
  const brought = understood(commands, typed)
  if (!brought) return tellFamily(typed, familyOf(commands, first))
  return await run(brought, begin, (input) => runAtRest(brought.command, input))
}

/** Commands of built-in plugins that may run while a server runs: a broken plugin does not prevent them. */
const concurrentCommandsOf = async ({
  pluginsOff,
}: Pick<PluginSettings, 'pluginsOff'>): Promise<readonly AsideCommand[]> =>
  (await findBuiltIn())
    .filter(({ plugin }) => !pluginsOff.includes(plugin.name))
    .flatMap(({ plugin }) => plugin.asideCommands ?? [])

/** Shows the help of a command, or runs it. */
async function run(
  { command, help, taken, options }: Typed<Described>,
  begin: (name: string) => void,
  work: (input: CommandInput) => Promise<void>,
): Promise<'done'> {
  if (help !== undefined) return tell(help)
  begin(command.name)
  const say = (text: string) => void process.stdout.write(`${text}\n`)
  await work({ taken, options, say, secret: readSecret, log: openLog('warn') })
  return 'done'
}

/** @throws a sentence if there is no such command */
function tellFamily(typed: readonly string[], family: readonly Described[]): 'done' {
  if (family.length > 0 && (typed.includes('--help') || typed.includes('-h'))) return tell(listOf(family).join('\n'))
  throw noSuchCommand(typed, family)
}

async function runOwn(typed: Typed<OwnCommand>, begin: (name: string) => void): Promise<'start' | 'done'> {
  if (typed.command !== START || typed.help !== undefined) return await run(typed, begin, typed.command.run)
  return typed.options['watch'] === true ? await startWatched() : 'start'
}

/** @throws a sentence if there is nothing to watch */
async function startWatched(): Promise<'done'> {
  const sources = readSources()
  const roots = readCore(sources).pluginsDir
  if (roots.length === 0) throw new Error('Set AV_PLUGINS_DIR to the folder of the plugin that you write')
  await runWatched({ roots, args: [process.argv[1]!, 'start'], env: sources.env })
  return 'done'
}

const allOf = (commands: readonly Described[]): string =>
  [
    `Archivolt ${manifest.version}: archivolt <command>`,
    '',
    ...listOf(commands),
    '',
    'Run archivolt <command> --help for details. Settings come from the environment (AV_DATA_DIR is the data folder) and config.json.',
  ].join('\n')

function tell(text: string): 'done' {
  process.stdout.write(`${text}\n`)
  return 'done'
}
