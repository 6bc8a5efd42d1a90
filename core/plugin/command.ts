/** Commands of `archivolt`: their form and input, and those about external plugins, which open no archive. */
import type { Log } from '../log.ts'

export interface CommandOption {
  type: 'boolean' | 'string'
  meaning: string
}

export interface CommandInput {
  /** The arguments, as `takes` declares them. */
  taken: readonly string[]
  options: Readonly<Record<string, string | boolean | undefined>>
  /** Prints a line for the user. */
  say: (text: string) => void
  /** Asks for a secret without echo; without a terminal reads the first line of standard input. */
  secret: (question: string) => Promise<string>
  log: Log
}

/** What people type, and what the help says of it. */
export interface CommandForm {
  /** Words in lower case: `user add`. */
  name: string
  /** One line for the list of commands, without a full stop. */
  summary: string
  /** Names of the arguments, in order: `file`; `name?` is optional. */
  takes?: readonly string[]
  options?: Readonly<Record<string, CommandOption>>
}

/** A plugin in the folder `plugins` of the data folder. */
export interface AddedPlugin {
  /** The name of its folder: the plugin's own name. */
  name: string
  /** Everything that came with it. */
  root: string
  /** Its own code. */
  folder: string
  /** Where it was added from; undefined: a person has put the folder there. */
  from?: string
  packageName?: string
}

interface Named {
  name: string
  version?: string
}

/** The external plugins, as the program finds them without starting a server. */
export interface AddedPlugins {
  /** In the order of their names. */
  list(): Promise<AddedPlugin[]>
  /** All from outside, and whether a start would leave them out. */
  found(): Promise<Array<Named & { origin: string; isOff: boolean; fault?: string }>>
  /** @throws a sentence: nobody has added it */
  named(name: string): Promise<AddedPlugin>
  /**
   * Adds a plugin, or a new version of it, for the next start: `install` gets an empty folder with a package.json, and
   * adds one dependency to it. That is loaded and checked with all others; only then it takes its place.
   * @param update  the name that it must have
   * @throws a sentence; everything is then as it was
   */
  add(from: string, install: (folder: string) => Promise<void>, update?: string): Promise<Named>
  /** @param withData  also its documents, tables, preferences and schedules. @throws a sentence */
  remove(name: string, withData: boolean, log: Log): Promise<void>
}

/** A command that opens no archive, so that it also runs beside a server. */
export interface AsideCommand extends CommandForm {
  run: (input: CommandInput, added: AddedPlugins) => Promise<void>
}
