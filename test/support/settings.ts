/** The settings that the built-in code declares. */

import { coreSettings } from '../../config/schema.ts'
import { findBuiltIn } from '../../core/cli/find-plugins.ts'

/** The names of their variables. */
export async function declaredVariables(): Promise<string[]> {
  const plugins = await findBuiltIn()
  return [coreSettings, ...plugins.map(({ plugin }) => plugin.settings ?? {})]
    .flatMap((settings) => Object.values(settings))
    .map(({ env }) => env)
}
