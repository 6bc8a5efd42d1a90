/** A command of core, which opens what it needs by itself. */
import type { CommandInput } from '../../core/plugin/command.ts'
import type { PluginCommand } from '../../core/plugin/define.ts'

export interface OwnCommand extends Omit<PluginCommand, 'run'> {
  run: (input: CommandInput) => Promise<void>
}
