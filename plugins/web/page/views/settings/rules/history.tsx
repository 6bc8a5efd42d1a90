/** The runs of rules, each with its list and an undo button. */
import { Check, RotateCcw, X } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../../parts/button.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { Pages } from '../../../parts/pages.tsx'
import { say } from '../../../parts/toast.ts'
import { Unfold } from '../../../parts/unfold.tsx'
import { get, post } from '../../../server/api.ts'
import type { Rule, RulePreview, RuleRun, RuleRunShown, RuleRuns } from '../../../server/records.ts'
import { forget, useLoad } from '../../../stores/load.ts'
import { toBytes, toMoment } from '../../../texts/format.ts'
import { inWords, t, textOf } from '../../../texts/lookup.ts'
import { Group } from '../option.tsx'
import { Preview } from './preview.tsx'

const ASK_MS = 1500
const isBusy = ({ state }: RuleRun) => state === 'running' || state === 'undoing'

export function History({ rules }: { rules: readonly Rule[] }) {
  const [page, setPage] = useState(1)
  const load = useLoad<RuleRuns>(`rules/runs ${page}`, (signal) => get('/api/rule/run/', { page }, signal))
  const runs = load.now.value.value?.runs ?? []
  const isAnyBusy = runs.some(isBusy)
  useEffect(() => {
    if (!isAnyBusy) return
    const timer = setInterval(() => void load.reload(), ASK_MS)
    return () => {
      clearInterval(timer)
      forget('list ')
    }
  }, [isAnyBusy])
  const act = async (run: RuleRun, action: 'confirm' | 'discard' | 'undo') => {
    try {
      await post(`/api/rule/run/${run.id}/`, { action })
      if (action === 'undo') say(t('rules.undo.begun'))
    } finally {
      await load.reload()
    }
  }
  return (
    <Group title={t('rules.history')}>
      <Loaded from={load} height="120px">
        {({ runs: shown, total }) => (
          <>
            {total === 0 && <p class="option-line">{t('rules.history.none')}</p>}
            <ul class="settings-rows">
              {shown.map((run) => (
                <Run key={run.id} run={run} rules={rules} act={act} />
              ))}
            </ul>
            {(page > 1 || total > page * 50) && (
              <div class="option-foot">
                <Pages
                  page={page}
                  isMore={total > page * 50}
                  onPage={setPage}
                  before={t('rules.page.newer')}
                  after={t('rules.page.older')}
                />
              </div>
            )}
          </>
        )}
      </Loaded>
    </Group>
  )
}

interface RunProps {
  run: RuleRun
  rules: readonly Rule[]
  act: (run: RuleRun, action: 'confirm' | 'discard' | 'undo') => Promise<void>
}

function Run({ run, rules, act }: RunProps) {
  const { state, made, by, reason, outcomes, done, left, undone, preview } = run
  const when = toMoment(made)
  const [list, setList] = useState<RulePreview>()
  const [pages, setPages] = useState<RuleRunShown[]>([])
  const rows = pages.flatMap((page) => page.rows)
  const isWaiting = state === 'waiting'
  const readAfter = async (before: RuleRunShown[]) => {
    setPages([...before, await get<RuleRunShown>(`/api/rule/run/${run.id}/`, { page: before.length + 1 })])
  }
  const counts = [
    isWaiting && t('rules.sum.remove', { count: outcomes.remove.videos, size: toBytes(outcomes.remove.bytes) }),
    done > 0 && t('rules.run.done', { count: done }),
    left > 0 && t('rules.run.left', { count: left }),
    undone > 0 && t('rules.run.undone', { count: undone }),
  ].filter((one) => one !== false)
  return (
    <li>
      <div class="row-words">
        <strong>{when}</strong>
        <p class="meta">
          {[t(`rules.run.state.${state}`), ...(by === undefined ? [t('rules.run.byItself')] : []), ...counts].join(
            ' · ',
          )}
        </p>
        {reason !== '' && <p class="bad">{inWords(reason)}</p>}
        <div class="buttons">
          {isWaiting && (
            <>
              <Button kind="main" icon={Check} of={when} onClick={() => act(run, 'confirm')}>
                {t('rules.run.agree')}
              </Button>
              <Button icon={X} of={when} onClick={() => act(run, 'discard')}>
                {t('rules.run.discard')}
              </Button>
            </>
          )}
          {state === 'done' && done > 0 && (
            <Button icon={RotateCcw} of={when} onClick={() => act(run, 'undo')}>
              {t('action.undo')}
            </Button>
          )}
        </div>
        <Unfold
          class="settings-advanced"
          title={t('rules.run.list')}
          onOpen={async () => {
            if (isWaiting) setList(await get<RulePreview>(`/api/rule/preview/${preview}/`))
            else await readAfter([])
          }}
        >
          {list && <Preview preview={list} rules={rules} />}
          {rows.length > 0 && (
            <ul class="plain">
              {rows.map((row) => (
                <li key={row.video_id}>
                  <span dir="auto">{row.title}</span>
                  <span class="meta">
                    {` ${t(`rules.touched.${row.state}`)}${row.reason === '' ? '' : `: ${textOf(`rules.reason.${row.reason}`, inWords(row.reason))}`}`}
                  </span>
                </li>
              ))}
            </ul>
          )}
          {rows.length > 0 && rows.length < done + left + undone && (
            <Button of={when} onClick={() => readAfter(pages)}>
              {t('action.more')}
            </Button>
          )}
        </Unfold>
      </div>
    </li>
  )
}
