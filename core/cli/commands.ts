/** The command line: lists the commands and their help, and runs what was typed. */
import { readCore, readSources } from '../../config/load-settings.ts'
import manifest from '../../package.json' with { type: 'json' }
import { openLog } from '../log.ts'
import type { CommandInput } from '../plugin/define.ts'
import { registerWhole } from '../plugin/load.ts'
import { runAtRest } from './at-rest.ts'
import { check } from './check.ts'
import { findPlugins } from './find-plugins.ts'
import { indexMove } from './index-move.ts'
import type { OwnCommand } from './own-command.ts'
import { pluginCommands } from './plugin-commands.ts'
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
const OWN: readonly OwnCommand[] = [START, setup, check, ...pluginCommands, rotateKey, indexMove]

/**
 * Runs the typed command.
 * @returns whether to start the server
 * @throws a sentence
 */
export async function runCommand(typed: readonly string[]): Promise<'start' | 'done'> {
  const [first] = typed
  if (first === undefined) return 'start'
  if (first === '--version') return tell(`Archivolt ${manifest.version}`)
  const own = understood(OWN, typed)
  if (own) return runOwn(own)
  const ownFamily = familyOf(OWN, first)
  if (ownFamily.length > 0) return tellFamily(typed, ownFamily)
  // Plugins are loaded only to list all commands, or for a command that core does not have.
  const core = readCore(readSources())
  const commands = commandsOf((await registerWhole(await findPlugins(core), core)).registry)
  if (first === '--help' || first === '-h' || first === 'help') return tell(allOf([...OWN, ...commands]))
  const brought = understood(commands, typed)
  if (!brought) {
    return tellFamily(typed, familyOf(commands, first))
  }
  if (brought.help === undefined) await runAtRest(brought.command, inputOf(brought))
  return tell(brought.help)
}

/** @throws a sentence: no such command */
function tellFamily(typed: readonly string[], family: readonly Described[]): 'done' {
  if (family.length > 0 && (typed.includes('--help') || typed.includes('-h'))) return tell(listOf(family).join('\n'))
  throw noSuchCommand(typed, family)
}

async function runOwn(typed: Typed<OwnCommand>): Promise<'start' | 'done'> {
  if (typed.help !== undefined) return tell(typed.help)
  if (typed.command === START && typed.options['watch'] !== true) return 'start'
  if (typed.command === START) return await startWatched()
  await typed.command.run(inputOf(typed))
  return 'done'
}

/** @throws a sentence: there is nothing to watch */
async function startWatched(): Promise<'done'> {
  const sources = readSources()
  const roots = readCore(sources).pluginsDir
  if (roots.length === 0) throw new Error('Set AV_PLUGINS_DIR to the folder of the plugin that you write')
  await runWatched({ roots, args: [process.argv[1]!, 'start'], env: sources.env })
  return 'done'
}

const inputOf = ({ taken, options }: Pick<CommandInput, 'taken' | 'options'>): CommandInput => ({
  ...{ taken, options },
  say: (text) => void process.stdout.write(`${text}\n`),
  secret: readSecret,
  log: openLog('warn'),
})

const allOf = (commands: readonly Described[]): string =>
  [
    `Archivolt ${manifest.version}: archivolt <command>`,
    '',
    ...listOf(commands),
    '',
    'Run archivolt <command> --help for details. Settings come from the environment (AV_DATA_DIR is the data folder) and config.json.',
  ].join('\n')

function tell(text: string | undefined): 'done' {
  if (text !== undefined) process.stdout.write(`${text}\n`)
  return 'done'
}
