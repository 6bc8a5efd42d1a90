/** Previews of keeping rules, and their runs, over HTTP (contract 9.27), for admins only. */
import { defineRoute, errors, ROW_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'
import { type List, PART } from './lists.ts'
import { draftOf, RuleDraft } from './routes.ts'
import { check } from './rule-rows.ts'
import { RUN_STATES, type Run } from './runs.ts'
import { Conditions, type Rule } from './schema.ts'
import { NOTES } from './survey.ts'

const PAGE = 50
const Count = Type.Integer({ minimum: 0 })
const Sum = Type.Object({
  videos: Count,
  bytes: Count,
  freed: Type.Integer({ description: 'bytes of disk space gained once the films are deleted for good' }),
})
const Outcomes = Type.Object({ keep: Sum, remove: Sum, fetch: Sum })
const ListRecord = Type.Object({
  id: Type.Integer(),
  made: Type.Integer(),
  is_draft: Type.Boolean({ description: 'whether its rules are not saved, so that it cannot be run' }),
  is_large: Type.Boolean({ description: 'whether its run waits for approval, unless it is started with `confirmed`' }),
  videos: Type.Integer({ description: 'number of videos in the archive' }),
  undecided: Type.Integer({ description: 'videos to which no rule applies: they stay' }),
  outcomes: Outcomes,
  bin_bytes: Type.Integer({ minimum: 0, description: 'size of the bin after a run' }),
  rules: Type.Array(
    Type.Object({
      id: Type.Integer({ description: 'in a draft: the position of the rule, from 1' }),
      ...Sum.properties,
      scope: Count,
    }),
  ),
})
const ListParams = Type.Object({ listId: Type.String({ pattern: ROW_PATTERN }) })
const RunParams = Type.Object({ runId: Type.String({ pattern: ROW_PATTERN }) })
const page = { page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }) }

export const makePreview = defineRoute({
  method: 'POST',
  path: '/api/rule/preview/',
  access: 'admin',
  summary: 'Preview what the keeping rules, or the rules in the request, would do now; changes nothing',
  body: Type.Object({ rules: Type.Optional(Type.Array(RuleDraft, { maxItems: 300 })) }),
  reply: ListRecord,
  errors: ['bad_request'],
  async handle({ body: { rules }, actor, signal }, app: App) {
    const draft = rules?.map((one, index): Rule => {
      const given = draftOf(one)
      if (given.side !== 'keep')
        throw errors.wrongField(`rules[${index}].side`, 'must be keep: taking rules have no preview')
      check(given)
      const { quality: _none, ...rule } = given
      return { id: index + 1, ...rule }
    })
    return listRecord(await app.ruleLists.make({ account: actor.id, signal, ...(draft && { draft }) }), app)
  },
})

export const showPreview = defineRoute({
  method: 'GET',
  path: '/api/rule/preview/:listId/',
  access: 'admin',
  summary: 'A stored preview',
  params: ListParams,
  reply: ListRecord,
  handle: ({ params: { listId } }, app: App) => listRecord(listOf(Number(listId), app), app),
})

export const listPreviewRows = defineRoute({
  method: 'GET',
  path: '/api/rule/preview/:listId/row/',
  access: 'admin',
  summary: 'The videos of a preview with one outcome, each with the rule that applies and its conditions',
  params: ListParams,
  query: { outcome: Type.Enum(['keep', 'remove', 'fetch'], { default: 'remove' }), ...page },
  reply: Type.Object({
    total: Count,
    rows: Type.Array(
      Type.Object({
        video_id: Type.String(),
        title: Type.String(),
        channel_id: Type.String(),
        vid_thumb_url: Type.String(),
        is_gone: Type.Optional(Type.Boolean({ description: 'whether the video was removed after the preview' })),
        rule: Type.Integer(),
        why: Conditions,
        bytes: Count,
        freed: Count,
        note: Type.Optional(
          Type.Enum([...NOTES], {
            description:
              'why the video stays, or why its removal frees no space: a person has protected it; its film is in a folder of another program; ' +
              'this rule removed it recently, and it was restored; this rule downloaded it again recently; the removal of other videos frees enough space; ' +
              'its film has another hard link; its film is missing',
          }),
        ),
      }),
    ),
  }),
  async handle({ params: { listId }, query }, app: App) {
    const list = listOf(Number(listId), app)
    const from = (query.page - 1) * PAGE
    const rows = app.ruleLists
      .rows(list.id, query.outcome, Math.floor(from / PART))
      .slice(from % PART, (from % PART) + PAGE)
    const docs = await app.videos.collection.getMany(rows.map(({ id }) => id))
    const rules = new Map(list.rules.map((rule) => [rule.id, rule]))
    return {
      total: list.sums.outcomes[query.outcome].videos,
      rows: rows.map(({ id, rule, bytes, freed, note }) => {
        const doc = docs.get(id)
        return {
          ...{ video_id: id, title: doc?.title ?? id, channel_id: doc?.channel_id ?? '' },
          vid_thumb_url: app.media.artUrl('video', id),
          ...(!doc && { is_gone: true }),
          ...{ rule, why: rules.get(rule)?.conditions ?? {}, bytes, freed },
          ...(note && { note }),
        }
      }),
    }
  },
})

const RunRecord = Type.Object({
  id: Type.Integer(),
  preview: Type.Integer(),
  state: Type.Enum([...RUN_STATES]),
  made: Type.Integer(),
  ended: Type.Optional(Type.Integer()),
  by: Type.Optional(Type.Integer({ description: 'the account that started it; omitted: it started automatically' })),
  reason: Type.String({
    description: 'why it was refused, ended early, or could not be undone completely; otherwise empty',
  }),
  outcomes: Outcomes,
  done: Count,
  left: Type.Integer({ description: 'videos that were not changed after all' }),
  undone: Count,
})

export const listRuns = defineRoute({
  method: 'GET',
  path: '/api/rule/run/',
  access: 'admin',
  summary: 'Runs of keeping rules, the newest first',
  query: page,
  reply: Type.Object({ total: Count, runs: Type.Array(RunRecord) }),
  handle({ query }, app: App) {
    const { runs, total } = app.ruleRuns.history((query.page - 1) * PAGE, PAGE)
    return { total, runs: runs.map((run) => runRecord(run, app)) }
  },
})

export const startRun = defineRoute({
  method: 'POST',
  path: '/api/rule/run/',
  access: 'admin',
  summary: 'Run a preview, which changes only the listed videos; a large run waits for approval unless it is confirmed',
  body: Type.Object({ preview: Type.Integer({ minimum: 1 }), confirmed: Type.Optional(Type.Boolean()) }),
  reply: RunRecord,
  errors: ['conflict', 'not_found'],
  async handle({ body: { preview, confirmed: isConfirmed = false }, actor, signal }, app: App) {
    return runRecord(await app.ruleRuns.start(listOf(preview, app), { account: actor.id, isConfirmed }, signal), app)
  },
})

export const changeRun = defineRoute({
  method: 'POST',
  path: '/api/rule/run/:runId/',
  access: 'admin',
  summary: 'Approve or discard a waiting run, or undo a finished one',
  params: RunParams,
  body: Type.Object({ action: Type.Enum(['confirm', 'discard', 'undo']) }),
  reply: RunRecord,
  errors: ['conflict'],
  handle: async ({ params: { runId }, body: { action }, signal }, app: App) =>
    runRecord(await app.ruleRuns[action](Number(runId), signal), app),
})

export const showRun = defineRoute({
  method: 'GET',
  path: '/api/rule/run/:runId/',
  access: 'admin',
  summary: 'A run, with the videos that it has changed',
  params: RunParams,
  query: page,
  reply: Type.Object({
    run: RunRecord,
    rows: Type.Array(
      Type.Object({
        video_id: Type.String(),
        outcome: Type.Enum(['remove', 'fetch']),
        rule: Type.Integer(),
        title: Type.String(),
        bytes: Count,
        state: Type.Enum(['done', 'left', 'undone']),
        reason: Type.String({
          description:
            '`kept`: a person has protected it since the preview; `gone`: it had already been removed; ' +
            '`place`: its film is in a folder of another program; `unavailable`: its film could not be moved; ' +
            '`again`: it was no longer in the bin, so it is downloaded again; or a sentence',
        }),
      }),
    ),
  }),
  handle({ params: { runId }, query }, app: App) {
    const run = app.ruleRuns.get(Number(runId))
    if (!run) throw errors.notFound('run')
    return {
      run: runRecord(run, app),
      rows: app.touching.list(run.id, (query.page - 1) * PAGE, PAGE).map((row) => ({
        ...{ video_id: row.video_id, outcome: row.outcome, rule: row.rule_id, title: row.title, bytes: row.bytes },
        ...{ state: row.state, reason: row.reason ?? '' },
      })),
    }
  },
})

function listOf(id: number, app: App): List {
  const list = app.ruleLists.get(id)
  if (!list) throw errors.notFound('preview')
  return list
}

function listRecord(list: List, app: App) {
  const { id, madeAt, version, sums } = list
  return {
    ...{ id, made: madeAt, is_draft: version === undefined, is_large: app.ruleRuns.isLarge(list) },
    ...{ videos: sums.videos, undecided: sums.undecided, outcomes: sums.outcomes },
    bin_bytes: app.preferences.section('bin').days > 0 ? app.bin.sum().sizeBytes + sums.outcomes.remove.bytes : 0,
    rules: list.rules.flatMap((rule) => {
      const sum = sums.rules[rule.id]
      return sum ? [{ id: rule.id, ...sum }] : []
    }),
  }
}

const NOTHING = { videos: 0, bytes: 0, freed: 0 }

function runRecord(run: Run, app: App) {
  const outcomes = app.ruleLists.get(run.list_id)?.sums.outcomes ?? { keep: NOTHING, remove: NOTHING, fetch: NOTHING }
  return {
    ...{ id: run.id, preview: run.list_id, state: run.state, made: run.made_at, reason: run.reason ?? '', outcomes },
    ...(run.ended_at !== null && { ended: run.ended_at }),
    ...(run.account !== null && { by: run.account }),
    ...app.touching.counts(run.id),
  }
}
