/** Parses the command line: the command, its arguments and options, and its help. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { isDiskFull } from '../../core/full-disk.ts'
import type { CommandInput, CommandOption } from '../../core/plugin/command.ts'
import type { PluginCommand, Registry } from '../../core/plugin/define.ts'

export type Described = Omit<PluginCommand, 'run'>

export interface Typed<Command extends Described> {
  command: Command
  /** The help text, if help was requested. */
  help?: string
  taken: CommandInput['taken']
  options: CommandInput['options']
}

export const commandsOf = ({ plugins }: Registry): PluginCommand[] =>
  plugins.flatMap(({ commands }) => (commands ?? []) as PluginCommand[])

const HELP: CommandOption = { type: 'boolean', meaning: 'show this help' }

/**
 * @returns undefined if there is no such command
 * @throws TypingMistake  an unknown option, or too few or too many arguments
 */
export function understood<Command extends Described>(
  commands: readonly Command[],
  typed: readonly string[],
): Typed<Command> | undefined {
  const command = commands.find((one) => wordsOf(one).every((word, at) => typed[at] === word))
  if (!command) return undefined
  const args = typed.slice(wordsOf(command).length)
  if (args.includes('--help') || args.includes('-h')) return { command, help: helpOf(command), taken: [], options: {} }
  return { command, ...argumentsOf(command, args) }
}

/** There is no such command, or an option or argument does not fit. */
export class TypingMistake extends Error {}

/** The commands that begin with this word: `user add` and others for `user`. */
export const familyOf = <Command extends Described>(commands: readonly Command[], word: string): Command[] =>
  commands.filter((command) => wordsOf(command).length > 1 && wordsOf(command)[0] === word)

/** @param family  the commands that begin with the same word */
export function noSuchCommand(
  [first = '', second]: readonly string[],
  family: readonly Described[] = [],
): TypingMistake {
  if (family.length === 0) return new TypingMistake(`Unknown command: ${first}. Run archivolt --help for a list`)
  const problem = second === undefined ? `Incomplete command: ${first}` : `Unknown command: ${first} ${second}`
  return new TypingMistake(`${problem}. Use archivolt ${family.map(usageOf).join(', or archivolt ')}`)
}

/**
 * The first line of an error, without the stack. For a full disk the system's own message is only "disk I/O error", or
 * ENOSPC.
 */
export function sentenceOf(error: unknown): string {
  if (isDiskFull(error) && /^(E|SQLITE_)/.test(String((error as NodeJS.ErrnoException).code)))
    return 'The disk is full: free some space, then try again'
  const message = error instanceof Error && error.message ? error.message : String(error)
  return message.split('\n')[0]!
}

/** One row per command. */
export const listOf = (commands: readonly Described[]): string[] =>
  columns(commands.map((command): [string, string] => [usageOf(command), command.summary]))

const wordsOf = ({ name }: Described): string[] => name.split(' ')

function argumentsOf(command: Described, args: readonly string[]): Pick<CommandInput, 'taken' | 'options'> {
  const takes = command.takes ?? []
  const usage = `. Usage: archivolt ${usageOf(command)}${optionsOf(command)}`
  let read: { values: Record<string, unknown>; positionals: string[] }
  try {
    read = parseArgs({ args: [...args], options: typesOf(command), allowPositionals: true, strict: true })
  } catch (error) {
    throw new TypingMistake(`${(error as Error).message.split('. ')[0]}${usage}`, { cause: error })
  }
  const { values, positionals } = read
  const missing = takes.filter((name, at) => positionals[at] === undefined && !name.endsWith('?'))
  if (missing.length > 0) throw new TypingMistake(`Missing ${missing.map((name) => `<${name}>`).join(' and ')}${usage}`)
  if (positionals.length > takes.length)
    throw new TypingMistake(`Unexpected argument: ${positionals[takes.length]}${usage}`)
  return { taken: positionals, options: values as CommandInput['options'] }
}

const typesOf = ({ options = {} }: Described): ParseArgsConfig['options'] =>
  Object.fromEntries(Object.entries(options).map(([name, { type }]) => [name, { type }]))

/** `<file>`, `[<name>]`. */
const usageOf = ({ name, takes = [] }: Described): string =>
  [name, ...takes.map((one) => (one.endsWith('?') ? `[<${one.slice(0, -1)}>]` : `<${one}>`))].join(' ')

/** ` [--admin] [--language <text>]`. */
const optionsOf = ({ options = {} }: Described): string =>
  Object.entries(options)
    .map(([name, { type }]) => ` [--${name}${type === 'string' ? ' <text>' : ''}]`)
    .join('')

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
