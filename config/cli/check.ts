/** `archivolt check`: checks settings, data and programs without changing anything; a server may be running. */
import { existsSync } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemClock } from '../../core/base/clock.ts'
import { saidBy } from '../../core/base/error.ts'
import { inEnglish } from '../../core/base/say.ts'
import { diskSpace, obstacleOf } from '../../core/folder.ts'
import { openChecked } from '../../core/ledger/ledger-copies.ts'
import { openSeal } from '../../core/ledger/seal.ts'
import { unreadableIn, wayOutOf } from '../../core/ledger/sealed-columns.ts'
import type { Finding } from '../../core/plugin/define.ts'
import { openRememberedSettings } from '../../core/plugin/remembered-settings.ts'
import { readSecretKey } from '../../core/secret-key.ts'
import { readCore, readSettings, readSources } from '../load-settings.ts'
import { findPlugins, registerWhole } from './find-plugins.ts'
import { lookAtDatabase } from './look-at-database.ts'
import type { OwnCommand } from './own-command.ts'
import { tryOut } from './try-out.ts'

const LEAST_FREE_BYTES = 1 << 30
const LEDGER_REMEDY = 'start the server: it will use the newest copy in ledger-copies/'

export const check: OwnCommand = {
  name: 'check',
  summary: 'Check settings, data and programs, and report problems',
  async run({ say, log }) {
    const sources = readSources()
    const core = readCore(sources)
    const loaded = await registerWhole(await findPlugins(core), core)
    const { owners } = await openRememberedSettings(core.dataDir, loaded)
    const settings = readSettings(sources, loaded.settings, owners)
    const found: Finding[] = []
    const tell = (finding: Finding) => {
      found.push(finding)
      say(`${finding.isRight ? 'ok   ' : 'WRONG'}  ${finding.what}: ${finding.said}`)
    }
    tell({ what: 'Settings', isRight: true, said: `loaded, with ${loaded.registry.plugins.length} plugins` })
    for (const { plugin, fault } of loaded.off)
      if (fault !== undefined) tell({ what: `Plugin ${plugin.name}`, isRight: false, said: `it is left out: ${fault}` })
    for (const finding of await checkData(core.dataDir)) tell(finding)
    const outside = loaded.registry.plugins.filter(loaded.isOutside)
    for (const [name, fault] of await tryOut(outside, loaded, core.dataDir, log)) {
      const said = fault ?? 'its pages can be built, and its tables created'
      tell({ what: `Plugin ${name}`, isRight: fault === undefined, said })
    }
    for (const { name, checks } of loaded.registry.plugins) {
      const told = checks?.({ settings, clock: systemClock, log }).catch((error: unknown) => [
        { what: `Plugin ${name}`, isRight: false, said: `the check failed: ${saidBy(error)}` },
      ])
      for (const finding of (await told) ?? []) tell(finding)
    }
    const wrong = found.filter(({ isRight }) => !isRight).length
    if (wrong > 0) throw new Error(`${wrong} of ${found.length} checks failed: see above for what to do`)
  },
}

/** Why this user cannot write in a folder, and what to do. undefined: it can be written */
async function whyUnwritable(folder: string): Promise<string | undefined> {
  try {
    await access(`${folder}/`, constants.R_OK | constants.W_OK | constants.X_OK) // with the slash, a file is no folder
    return undefined
  } catch (cause) {
    const { reason, remedy } = obstacleOf(cause)
    return `cannot be written (${reason}): ${remedy}`
  }
}

async function checkData(dataDir: string): Promise<Finding[]> {
  if (!existsSync(dataDir)) return [await checkParent(dataDir)]
  const findings = [await checkFolder(dataDir)]
  const ledger = join(dataDir, 'ledger.sqlite')
  if (existsSync(ledger)) {
    findings.push(lookAtDatabase(ledger, 'Ledger', LEDGER_REMEDY))
    if (findings.at(-1)!.isRight) findings.push(...(await checkSecrets(dataDir, ledger)))
  }
  const key = join(dataDir, 'secret.key')
  if (existsSync(key)) {
    const { mode } = await stat(key)
    const isPrivate = (mode & 0o077) === 0
    findings.push({
      what: 'Secret key',
      isRight: isPrivate,
      said: isPrivate ? 'readable by its owner only' : `readable by others: run chmod 600 ${key}`,
    })
  }
  return findings
}

/** Of a data folder that does not exist yet: whether it can be created. */
async function checkParent(dataDir: string): Promise<Finding> {
  let parent = dirname(dataDir)
  while (!existsSync(parent)) parent = dirname(parent)
  const fault = await whyUnwritable(parent)
  const outlook = fault === undefined ? 'the first start creates it' : `${parent} ${fault}`
  return { what: 'Data folder', isRight: fault === undefined, said: `${dataDir} does not exist yet: ${outlook}` }
}

async function checkFolder(dataDir: string): Promise<Finding> {
  const [{ free }, fault] = [await diskSpace(dataDir), await whyUnwritable(dataDir)]
  const room = `${(free / 2 ** 30).toFixed(1)} GB free`
  const isRight = fault === undefined && free >= LEAST_FREE_BYTES
  return {
    ...{ what: 'Data folder', isRight },
    said: fault ? `${dataDir} ${fault}` : `${dataDir}, ${room}${isRight ? '' : ': free some space'}`,
  }
}

async function checkSecrets(dataDir: string, ledger: string): Promise<Finding[]> {
  const key = (await readSecretKey(dataDir)) ?? Buffer.alloc(0) // without a key, no secret can be opened
  const db = openChecked(ledger, { readonly: true })
  try {
    const unreadable = unreadableIn(db, openSeal(key))
    if (unreadable.size === 0) return []
    return [{ what: 'Secrets', isRight: false, said: `there are ${inEnglish(wayOutOf(unreadable))}` }]
  } finally {
    db.close()
  }
}
