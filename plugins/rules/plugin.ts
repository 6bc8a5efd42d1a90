/**
 * Rules: decide which listed videos are taken and which videos stay. Their scopes include groups of channels and
 * playlists.
 */
import { definePlugin } from 'archivolt'
import { archiveBelongings, channelBelongings } from './belongings.ts'
import { addGroup, changeGroup, listGroups, removeGroup } from './group-routes.ts'
import { type GroupRows, openGroupRows } from './group-rows.ts'
import { type Lists, openLists } from './lists.ts'
import { addRule, changeRule, listRules, orderRules, removeRule } from './routes.ts'
import { openRuleRows, type RuleRows } from './rule-rows.ts'
import { changeRun, listPreviewRows, listRuns, makePreview, showPreview, showRun, startRun } from './run-routes.ts'
import { applyRules, runRules, undoRun } from './run-tasks.ts'
import { openRuns, type RuleRuns } from './runs.ts'
import { listFilter } from './selected.ts'
import { openSettings, type SettingRules } from './settings.ts'
import { ruleTables } from './tables.ts'
import { openTaking, type Taking } from './take.ts'
import { openTouching, type Touching } from './touching.ts'
import { fulfil } from './wishes.ts'

export default definePlugin({
  name: 'rules',
  needs: ['platform', 'media', 'channel', 'video', 'playlist', 'watch', 'user', 'download', 'bin', 'removal', 'cookie'],
  migrations: [ruleTables],
  lanes: { rules: 1 },
  routes: [
    ...[listRules, addRule, orderRules, changeRule, removeRule],
    ...[makePreview, showPreview, listPreviewRows, listRuns, startRun, showRun, changeRun],
    ...[listGroups, addGroup, changeGroup, removeGroup],
  ],
  tasks: [applyRules, runRules, undoRun],
  implements: {
    'channel.group': (app) => (id) => app.groups.get(id),
    'channel.belongings': channelBelongings,
    'channel.remove': (app) => (id, step) => step('rules.forget', () => app.settingRules.end(id)),
    'archive.belongings': archiveBelongings,
    'session.groups': (app) => () => app.groups.heads(),
    'video.filter': listFilter,
    'download.sift': (app) => (items, origin) => app.taking.sift(items, origin),
    'download.begin': (app) => (item, asked) => app.taking.begin(item, asked),
    'download.quality': (app) => (id) => app.taking.quality(id),
    'download.wishes': (app) => (of, wishes) => fulfil(app.rules, of, wishes),
    'download.after': (app) => async () => {
      await app.jobs.start(applyRules)
    },
    'video.remove': (app) => app.videos.removal((ids) => app.taking.forget(ids)),
  },
  on: {
    'channel.changed':
      (app) =>
      async ({ change }) => {
        if (change.channel_overwrites) await app.settingRules.settle()
      },
    'queue.asked':
      (app) =>
      async ({ ids, isOne }) => {
        if (isOne) await app.taking.accept(ids)
      },
    'index.replaced': (app) => () => app.settingRules.settle(),
    'ledger.replaced': (app) => () => app.settingRules.settle(),
  },
  services(app) {
    const rules = openRuleRows(app)
    const groups = openGroupRows(app, rules)
    const touching = openTouching(app)
    const ruleLists = openLists(app, rules, groups)
    return {
      ...{ rules, groups, ruleLists },
      taking: openTaking(app, rules, groups),
      touching,
      ruleRuns: openRuns(app, ruleLists, rules, touching),
      settingRules: openSettings(app, rules),
    }
  },
  async setup(app) {
    app.accounts.setGroups((id) => app.groups.get(id)?.members)
    const settle = () =>
      app.settingRules
        .settle()
        .catch((err: unknown) => app.log.warn({ err }, 'settings could not be converted to rules'))
    await settle()
    app.preferences.watch(() => void settle())
    await app.ruleRuns.continueAll()
  },
})

declare module 'archivolt' {
  interface Services {
    rules: {
      /** Stores the rules in their order. */
      rules: RuleRows
      /** Stores groups of channels and playlists. */
      groups: GroupRows
      /** Applies taking rules to listed videos. */
      taking: Taking
      /** Stores previews of the keeping rules. */
      ruleLists: Lists
      /** Stores what runs of the keeping rules have changed, so that they can be continued or undone. */
      touching: Touching
      /** Runs previews, and undoes runs. */
      ruleRuns: RuleRuns
      /** Keeps the rules that represent settings up to date. */
      settingRules: SettingRules
    }
  }
}
