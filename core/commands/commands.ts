/** The one command: what there is beside `start`, its help, and how what was typed is understood. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { readCore, readSources } from '../../config/load.ts'
import manifest from '../../package.json' with { type: 'json' }
import { openLog } from '../log.ts'
import type { CommandInput, CommandOption, PluginCommand } from '../plugin/define.ts'
import { findPlugins, type LoadedPlugins, registerPlugins } from '../plugin/load.ts'
import { runAtRest } from './at-rest.ts'
import { check } from './check.ts'
import { indexMove } from './index-move.ts'
import type { OwnCommand } from './own-command.ts'
import { rotateKey } from './rotate-key.ts'
import { readSecret } from './secret.ts'
import { setup } from './setup.ts'

const START: OwnCommand = {
  name: 'start',
  summary: 'Start the server (so does no command at all)',
  run: () => Promise.resolve(),
}
const OWN: readonly OwnCommand[] = [START, setup, check, rotateKey, indexMove]
const HELP: CommandOption = { type: 'boolean', meaning: 'show this' }

/**
 * Does what was typed.
 * @returns whether the server is to be started
 * @throws a sentence
 */
export async function runCommand(typed: readonly string[]): Promise<'start' | 'done'> {
  if (typed.length === 0) return 'start'
  if (typed[0] === '--version') return tell(`Archivolt ${manifest.version}`)
  const own = find(OWN, typed)
  // To name all commands, or one that core does not have, the plugins are asked.
  const loaded = own ? undefined : await loadPlugins()
  if (typed[0] === '--help' || typed[0] === '-h' || typed[0] === 'help')
    return tell(listOf([...OWN, ...commandsOf(loaded!)]))
  const command = own ?? find(commandsOf(loaded!), typed)
  if (!command) throw new Error(`There is no command ${typed[0]}: archivolt --help lists what there is`)
  const args = typed.slice(wordsOf(command).length)
  if (args.includes('--help') || args.includes('-h')) return tell(helpOf(command))
  const input = understood(command, args)
  if (own === START) return 'start'
  await (own ? own.run(input) : runAtRest(command as PluginCommand, input))
  return 'done'
}

async function loadPlugins(): Promise<LoadedPlugins> {
  const core = readCore(readSources())
  return registerPlugins(await findPlugins(core), core.pluginsOff)
}

const commandsOf = ({ registry }: LoadedPlugins): PluginCommand[] =>
  registry.plugins.flatMap(({ commands }) => (commands ?? []) as PluginCommand[])

type Described = Omit<PluginCommand, 'run'>

const wordsOf = ({ name }: Described): string[] => name.split(' ')

const find = <Command extends Described>(commands: readonly Command[], typed: readonly string[]): Command | undefined =>
  commands.find((command) => wordsOf(command).every((word, at) => typed[at] === word))

/** @throws a sentence: an option that there is not, something missing or too much */
function understood(command: Described, args: readonly string[]): CommandInput {
  const takes = command.takes ?? []
  const usage = `: archivolt ${command.name} --help tells how it is used`
  let read: { values: Record<string, unknown>; positionals: string[] }
  try {
    read = parseArgs({ args: [...args], options: typesOf(command), allowPositionals: true, strict: true })
  } catch (error) {
    throw new Error(`${(error as Error).message.split('. ')[0]}${usage}`, { cause: error })
  }
  const { values, positionals } = read
  const missing = takes.filter((name, at) => positionals[at] === undefined && !name.endsWith('?'))
  if (missing.length > 0) throw new Error(`It takes ${missing.join(' and ')}${usage}`)
  if (positionals.length > takes.length) throw new Error(`${positionals[takes.length]} is too much${usage}`)
  return {
    taken: positionals,
    options: values as CommandInput['options'],
    say: (text) => void process.stdout.write(`${text}\n`),
    secret: readSecret,
    log: openLog('warn'),
  }
}

const typesOf = ({ options = {} }: Described): ParseArgsConfig['options'] =>
  Object.fromEntries(Object.entries(options).map(([name, { type }]) => [name, { type }]))

/** `<file>`, `[<name>]`. */
const usageOf = ({ name, takes = [] }: Described): string =>
  [name, ...takes.map((one) => (one.endsWith('?') ? `[<${one.slice(0, -1)}>]` : `<${one}>`))].join(' ')

function listOf(commands: readonly Described[]): string {
  const rows = commands.map((command): [string, string] => [usageOf(command), command.summary])
  return [
    `Archivolt ${manifest.version}: archivolt <command>`,
    '',
    ...columns(rows),
    '',
    'Each has --help. Settings come from the environment (AV_DATA_DIR says where the data folder is) and config.json.',
  ].join('\n')
}

function helpOf(command: Described): string {
  const rows = Object.entries({ ...command.options, help: HELP }).map(([name, { type, meaning }]): [string, string] => [
    `--${name}${type === 'string' ? ' <text>' : ''}`,
    meaning,
  ])
  return [`archivolt ${usageOf(command)}`, '', `  ${command.summary}`, '', ...columns(rows)].join('\n')
}

function columns(rows: ReadonlyArray<[string, string]>): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}

function tell(text: string): 'done' {
  process.stdout.write(`${text}\n`)
  return 'done'
}
