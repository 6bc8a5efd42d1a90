/** A command of core's: it opens for itself what it needs. */
import type { CommandInput, PluginCommand } from '../plugin/define.ts'

export interface OwnCommand extends Omit<PluginCommand, 'run'> {
  run: (input: CommandInput) => Promise<void>
}
