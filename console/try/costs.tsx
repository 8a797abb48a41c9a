import { ServerText } from '../parts/server-text.js'
import { aboutTokens } from '../state/costs.js'
import { chooseView, chosenView, gatewayViews, type GatewayView } from '../state/gateway-views.js'

/** The views and servers of the gateway, with what clients load of each, for operators. */
export function Costs () {
  const views = gatewayViews.value
  if (views.length === 0) return null
  return (
    <section class='stack costs'>
      <h2>What clients load</h2>
      <ul>
        {views.map(view => (
          <Row key={`${view.kind} ${view.name ?? ''}`} view={view} />
        ))}
      </ul>
      <p class='small quiet'>Tokens are those of the definitions of tools: an estimate, characters / 4.</p>
    </section>
  )
}

function Row ({ view: { name, kind, description, tools, tokens, remarks } }: { view: GatewayView }) {
  return (
    <li>
      <p class='row'>
        <button type='button' aria-pressed={name === chosenView.value} onClick={() => chooseView(name)}>
          {name === undefined ? 'Everything' : <ServerText text={name} />}
        </button>
        <span class='small'>
          {kind === 'server' ? 'server, ' : ''}
          {tools.toLocaleString()} {tools === 1 ? 'tool' : 'tools'}, {aboutTokens(tokens)}
        </span>
      </p>
      {description !== undefined && (
        <p class='small quiet'>
          <ServerText text={description} />
        </p>
      )}
      {remarks.map(remark => (
        <p key={remark} class='small note warn'>
          <ServerText text={remark} />
        </p>
      ))}
    </li>
  )
}
