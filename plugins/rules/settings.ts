/**
 * The settings "Delete watched videos after", for all channels and for single ones: each is represented by a keeping
 * rule. The setting determines what the rule does; the rule has a position in the list.
 */
import { openLocks } from 'archivolt'
import type { App } from './app.ts'
import type { Draft, RuleRows } from './rule-rows.ts'

/** The setting for all channels; others are named by channel id. */
const ALL = 'all'
const OVERWRITE = 'channel_overwrites.autodelete_days'

const draftOf = (setting: string, days: number): Draft => ({
  side: 'keep',
  scope: setting === ALL ? { kind: 'all' } : { kind: 'channel', id: setting },
  conditions: { watched: { days } },
  // 0 for a channel: never delete, whatever the general setting is.
  outcome: days === 0 ? 'keep' : 'remove',
  name: '',
  isOn: true,
})

export interface SettingRules {
  /** Updates the rules from the settings. */
  settle(): Promise<void>
  has(setting: string): boolean
  /** Removes the rule of a channel that is being removed with its setting. */
  end(channelId: string): Promise<void>
  /** Resets the setting of a removed rule. */
  takeBack(setting: string): Promise<void>
}

export function openSettings(app: App, rules: RuleRows): SettingRules {
  async function wanted(): Promise<Map<string, number>> {
    const found = new Map<string, number>()
    for await (const batch of app.channels.collection.parts({ paths: [OVERWRITE] }))
      for (const { id, values } of batch) if (typeof values[0] === 'number') found.set(id, values[0])
    const everywhere = app.preferences.section('downloads').autodelete_days
    if (everywhere) found.set(ALL, everywhere)
    return found
  }

  /** One update at a time, because two would both add the rule of a new setting. */
  const locks = openLocks()

  async function settle(): Promise<void> {
    const settings = await wanted()
    const existing = new Map(
      rules.list('keep').flatMap((rule) => (rule.setting === undefined ? [] : [[rule.setting, rule]])),
    )
    for (const [setting, { id }] of existing) if (!settings.has(setting)) await rules.remove(id)
    for (const [setting, days] of settings) {
      const draft = draftOf(setting, days)
      const { scope, conditions, outcome } = draft
      const rule = existing.get(setting)
      if (!rule) await rules.add(draft, { setting, before: setting === ALL ? undefined : existing.get(ALL)?.id })
      else if (rule.outcome !== outcome || rule.conditions.watched?.days !== days)
        await rules.change(rule.id, { scope, conditions, outcome })
    }
  }

  const ruleOf = (wanted: string) => rules.list('keep').find(({ setting }) => setting === wanted)

  return {
    settle: () => locks.exclusive('settle', settle),
    has: (setting) => ruleOf(setting) !== undefined,

    end: (channelId) =>
      locks.exclusive('settle', async () => {
        const rule = ruleOf(channelId)
        if (rule) await rules.remove(rule.id)
      }),

    async takeBack(setting) {
      if (setting === ALL) await app.preferences.change({ downloads: { autodelete_days: false } })
      else await app.channels.change(setting, { channel_overwrites: { autodelete_days: null } })
    },
  }
}
