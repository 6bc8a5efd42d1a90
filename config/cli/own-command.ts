/** A command of core, which itself opens what it needs. */
import type { CommandInput } from '../../core/plugin/command.ts'
import type { PluginCommand } from '../../core/plugin/define.ts'

export interface OwnCommand extends Omit<PluginCommand, 'run'> {
  run: (input: CommandInput) => Promise<void>
}
