/** The settings that built-in code declares. */

import { findBuiltIn } from '../../config/cli/find-plugins.ts'
import { coreSettings } from '../../config/schema.ts'

/** The names of their environment variables. */
export async function declaredVariables(): Promise<string[]> {
  const plugins = await findBuiltIn()
  return [coreSettings, ...plugins.map(({ plugin }) => plugin.settings ?? {})]
    .flatMap((settings) => Object.values(settings))
    .map(({ env }) => env)
}
