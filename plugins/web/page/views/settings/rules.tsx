/** Rules: which videos are downloaded and which stay, with a preview and the history of runs. */
import { Eye, Plus } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { useMoves } from '../../parts/ordered-list.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, remove } from '../../server/api.ts'
import type { Rule, RulePreview, Rules } from '../../server/records.ts'
import { type Load, useLoad } from '../../stores/load.ts'
import { isAdmin } from '../../stores/session.ts'
import { t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'
import { type Draft, draftOf } from './rules/draft.ts'
import { RuleEditor } from './rules/editor.tsx'
import { History } from './rules/history.tsx'
import { RuleList } from './rules/list.tsx'
import { Preview } from './rules/preview.tsx'

export type Side = Rule['side']

const loadRules = (): Load<Rules> => useLoad<Rules>('settings/rules', (signal) => get('/api/rule/', {}, signal))

export function RulesSection() {
  const rules = loadRules()
  const [edited, edit] = useState<Draft>()
  const [preview, show] = useState<RulePreview>()
  const [round, setRound] = useState(0)
  const reload = async () => {
    show(undefined)
    await rules.reload()
  }
  const save = async ({ id, ...body }: Draft) => {
    const { side, ...changes } = body
    if (id === undefined) await post('/api/rule/', body)
    else await post(`/api/rule/${id}/`, changes)
    void reload()
  }
  return (
    <>
      <p class="settings-lead">{t('rules.lead')}</p>
      <Loaded from={rules}>
        {(all) => (
          <>
            <Side side="take" all={all} reload={reload} edit={edit} />
            {isAdmin.value && <Side side="keep" all={all} reload={reload} edit={edit} />}
            {isAdmin.value && (
              <>
                <Group title={t('rules.preview')} hint={t('rules.preview.hint')}>
                  <div class="option-foot">
                    <Button icon={Eye} onClick={async () => show(await post<RulePreview>('/api/rule/preview/', {}))}>
                      {t('rules.preview.make')}
                    </Button>
                  </div>
                  {preview && (
                    <Preview
                      key={preview.id}
                      preview={preview}
                      rules={all.keep}
                      onRun={() => {
                        show(undefined)
                        setRound(round + 1)
                      }}
                    />
                  )}
                </Group>
                <History key={round} rules={all.keep} />
              </>
            )}
            {edited && <RuleEditor draft={edited} saved={all} onSave={save} onClose={() => edit(undefined)} />}
          </>
        )}
      </Loaded>
    </>
  )
}

interface SideProps {
  side: Side
  all: Rules
  reload: () => Promise<void>
  edit: (draft: Draft) => void
}

function Side({ side, all, reload, edit }: SideProps) {
  const moves = useMoves(reload)
  const list = moves.shown(all[side])
  const order = (ids: readonly number[]) => moves.move(ids, () => post('/api/rule/order/', { side, order: ids }))
  const drop = async (rule: Rule) => {
    const before = list[list.indexOf(rule) + 1]?.id
    await remove(`/api/rule/${rule.id}/`)
    await reload()
    const { id: _id, ...draft } = draftOf(rule)
    say(t('rules.removed'), {
      // A rule that represents a setting is restored by changing the setting.
      ...(rule.setting === undefined && {
        undo: async () => {
          await post('/api/rule/', { ...draft, ...(before !== undefined && isAdmin.value && { before }) })
          await reload()
        },
      }),
    })
  }
  return (
    <Group title={t(`rules.side.${side}`)} hint={t(`rules.side.${side}.hint`)}>
      {list.length === 0 && <p class="option-line">{t('rules.none')}</p>}
      <RuleList
        rules={list}
        order={isAdmin.value ? order : undefined}
        edit={(rule) => edit(draftOf(rule))}
        drop={drop}
        onSwitch={async (rule, isOn) => {
          await post(`/api/rule/${rule.id}/`, { is_on: isOn })
          await reload()
        }}
      />
      <p class="option-line">
        {t(`rules.side.${side}.otherwise`)}
        {side === 'take' && all.members_only > 0 && ` ${t('rules.membersOnly', { count: all.members_only })}`}
      </p>
      <div class="option-foot">
        <Button icon={Plus} of={t(`rules.side.${side}`)} onClick={() => edit(draftOf(undefined, side))}>
          {t('rules.add')}
        </Button>
      </div>
    </Group>
  )
}
