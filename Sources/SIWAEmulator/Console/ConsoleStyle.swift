/// The console's style sheet: from 400 to 1,600 pixels, light and dark.
enum ConsoleStyle {
    static let source = PageTheme.variables + layout + controls + requests + panels

    private static let layout = """

        * { box-sizing: border-box; }
        html { scroll-padding-top: 4rem; }
        body { margin: 0; background: var(--ground); color: var(--text);
          font: .9375rem/1.5 system-ui, sans-serif; }
        h1, h2, h3, h4, p, ul, ol, dl, dd, pre, figure { margin: 0; padding: 0; }
        ul, ol { list-style: none; }
        a { color: var(--accent); }
        b { font-weight: 600; }
        h2 { font-size: 1rem; font-weight: 650; }
        h3 { font-size: .8125rem; font-weight: 600; color: var(--muted); margin: 1rem 0 .25rem; }
        h4 { font-size: .8125rem; font-weight: 600; color: var(--muted); margin: 0 0 .375rem; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        .caption { color: var(--muted); font-size: .8125rem; font-weight: 400; }
        .mono, pre, code { font-family: var(--mono); font-size: .8125rem; }
        .empty { color: var(--muted); }
        .note { padding: .5rem 1.25rem; background: var(--warn-ground); color: var(--warn); }

        header { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 2rem;
          padding: .75rem 1.25rem; background: var(--surface); border-bottom: 1px solid var(--line); }
        .brand { display: flex; align-items: center; gap: .75rem; }
        .brand h1 { font-size: 1.0625rem; line-height: 1.2; font-weight: 700; letter-spacing: -.01em; }
        .brand p { color: var(--muted); font-size: .8125rem; }
        .logo { width: 2rem; height: 2rem; border-radius: .5rem; background: var(--accent);
          position: relative; flex: none; }
        .logo::before { content: ""; position: absolute; left: .6875rem; top: .375rem; width: .625rem;
          height: .625rem; border-radius: 50%; background: var(--on-accent); }
        .logo::after { content: ""; position: absolute; left: .875rem; top: .875rem; width: .25rem;
          height: .75rem; background: var(--on-accent);
          box-shadow: .1875rem .25rem 0 -.03125rem var(--on-accent); }
        header [data-panel=status] { display: flex; flex-wrap: wrap; align-items: center;
          gap: .25rem 1.5rem; flex: 1; }
        .clock time { font-variant-numeric: tabular-nums; }
        .clock .caption { margin-right: .375rem; }
        .numbers { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
        .numbers a { color: var(--muted); text-decoration: none; }
        .numbers a b { color: var(--text); font-variant-numeric: tabular-nums; }
        .numbers a:hover { text-decoration: underline; }
        .numbers a.warn, .numbers a.warn b { color: var(--warn); }
        .tools { display: flex; align-items: center; gap: .75rem; margin-left: auto; }

        nav { display: none; position: sticky; top: 0; z-index: 2; gap: 0 .25rem;
          padding: .5rem .75rem; background: var(--surface); border-bottom: 1px solid var(--line); }
        nav a { padding: .25rem .625rem; border-radius: 1rem; text-decoration: none;
          color: var(--text); white-space: nowrap; }
        nav a:hover { background: var(--raised); }

        main { display: grid; grid-template-columns: minmax(0, 1fr) 27rem; gap: 1rem;
          padding: 1rem 1.25rem; max-width: 110rem; margin: 0 auto; align-items: start; }
        .rail { display: grid; gap: 1rem; min-width: 0; grid-column: 2; }
        #requests { grid-row: 1 / span 2; position: sticky; top: 1rem; }
        /* It scrolls by itself: what comes moves no button away from the pointer. */
        #log { max-height: calc(100vh - 10rem); overflow-y: auto; }
        section { background: var(--surface); border: 1px solid var(--line); border-radius: .75rem;
          padding: 1rem; box-shadow: var(--shadow); min-width: 0; overflow-wrap: anywhere; }
        .section-head { display: flex; align-items: center; justify-content: space-between;
          gap: .75rem; margin-bottom: .75rem; min-height: 2rem; }
        .fold > summary { display: flex; align-items: center; justify-content: space-between;
          gap: .75rem; min-height: 2rem; list-style: none; border-radius: .375rem; }
        .fold > summary::-webkit-details-marker { display: none; }
        .fold > summary::after { content: ""; width: .5rem; height: .5rem; margin: 0 .375rem;
          border: solid var(--muted); border-width: 0 2px 2px 0; transform: rotate(-45deg); }
        .fold[open] > summary::after { transform: rotate(45deg); }
        .fold[open] > summary { margin-bottom: .5rem; }
        .folded { scroll-margin-top: 4rem; }
        .folded > p.end { display: flex; justify-content: flex-end; margin-top: .5rem; }
        @media (max-width: 64rem) {
          main { grid-template-columns: minmax(0, 1fr); padding: .75rem; }
          .rail { grid-column: 1; }
          #requests { grid-row: auto; position: static; }
          nav { display: flex; flex-wrap: wrap; }
          #log { max-height: 75vh; }
        }
        @media (max-width: 48rem) {
          #requests > .section-head { flex-wrap: wrap; }
          .find { order: 1; flex: 1 0 100%; }
          html { scroll-padding-top: 1rem; }
          header { padding: .75rem; }
          .tools { order: 1; }
          header [data-panel=status] { order: 2; flex: 1 0 100%; }
          .brand { flex: 1; min-width: 0; }
          nav { position: static; padding: .375rem; }
          nav a { padding: .25rem .5rem; font-size: .875rem; }
        }
        @media (min-width: 64rem) and (max-width: 94rem) {
          .people { max-height: 22rem; overflow-y: auto; }
        }
        @media (min-width: 94rem) {
          main { grid-template-columns: minmax(0, 1fr) 24rem 24rem; }
          .rail { grid-column: auto; }
        }

        """

    private static let controls = """

        form { display: contents; }
        form.stack { display: grid; gap: .75rem; }
        form.row-form { display: flex; gap: .5rem; align-items: end; margin-bottom: .75rem; }
        form.row-form label { flex: 1; min-width: 0; }
        label { display: grid; gap: .25rem; font-size: .8125rem; color: var(--muted); }
        label.check { display: flex; align-items: center; gap: .5rem; }
        .pair { display: flex; flex-wrap: wrap; gap: .75rem; }
        .pair label { flex: 1 1 9rem; min-width: 0; }
        .pair label.short { flex: 0 0 6rem; }
        input, select, button, .button { font: inherit; font-size: .875rem; color: var(--text); }
        input:not([type=checkbox]), select { width: 100%; min-width: 0; height: 2.25rem;
          padding: 0 .625rem; background: var(--ground); border: 1px solid var(--line);
          border-radius: .5rem; }
        input::placeholder { color: var(--muted); opacity: 1; }
        button, .button { display: inline-flex; align-items: center; min-height: 2.25rem;
          padding: 0 .75rem; background: var(--raised); border: 1px solid var(--line);
          border-radius: .5rem; cursor: pointer; text-decoration: none; white-space: nowrap; }
        button:hover, .button:hover { border-color: var(--accent); }
        button:active { transform: translateY(1px); }
        button.quiet, .button.quiet { min-height: 2rem; background: none; font-size: .8125rem;
          padding: 0 .625rem; }
        button.danger { color: var(--bad); }
        button.danger:hover { background: var(--bad-ground); border-color: var(--bad); }
        .buttons { display: flex; flex-wrap: wrap; gap: .5rem; }
        .buttons + .caption { margin-top: .625rem; }
        .aside { display: flex; gap: .75rem; align-items: center; margin-top: .5rem;
          justify-content: space-between; }
        [hidden] { display: none !important; }
        .badge { display: inline-block; padding: 0 .4375rem; border-radius: .375rem;
          background: var(--raised); color: var(--muted); font-size: .75rem; line-height: 1.25rem;
          font-weight: 600; white-space: nowrap; }
        .badge.ok { background: var(--ok-ground); color: var(--ok); }
        .badge.error { background: var(--bad-ground); color: var(--bad); }
        .badge.warn, .badge.warning { background: var(--warn-ground); color: var(--warn); }
        #live.ok::before { content: ""; display: inline-block; width: .4375rem; height: .4375rem;
          margin-right: .375rem; border-radius: 50%; background: currentColor; }
        summary { cursor: pointer; }
        details.more { border-top: 1px solid var(--line); margin-top: .75rem; padding-top: .75rem; }
        details.more > summary { color: var(--accent); font-size: .875rem; }
        details.more > form { margin-top: .75rem; }
        details.menu { position: relative; }
        details.menu > summary { list-style: none; }
        details.menu > div { position: absolute; right: 0; top: 2.5rem; z-index: 3; width: 15rem;
          display: grid; gap: .75rem; padding: 1rem; background: var(--surface);
          border: 1px solid var(--line); border-radius: .75rem;
          box-shadow: 0 8px 24px rgb(0 0 0 / .18); }
        .filter { display: flex; align-items: center; gap: .25rem; }
        .filter a { padding: .25rem .625rem; border-radius: .5rem; text-decoration: none;
          color: var(--muted); font-size: .8125rem; }
        .filter a[aria-current] { background: var(--raised); color: var(--text); font-weight: 600; }
        .find { display: flex; gap: .375rem; flex: 0 1 20rem; min-width: 0; margin-left: auto; }
        .find input:not([type=checkbox]) { height: 2rem; }
        /* Over the requests, where there are links but no buttons; clicks go through it. */
        #toasts { position: fixed; left: 1rem; bottom: 1rem; z-index: 4; display: grid; gap: .5rem;
          max-width: min(26rem, calc(100vw - 2rem)); pointer-events: none; }
        /* Always, because a page that shrinks when a note leaves moves what is under the pointer. */
        body { padding-bottom: 5rem; }
        .toast.error, .toast.code { pointer-events: auto; }
        .toast { padding: .625rem .875rem; border-radius: .5rem; background: var(--text);
          color: var(--ground); box-shadow: 0 8px 24px rgb(0 0 0 / .25); overflow-wrap: anywhere; }
        .toast.error { background: var(--bad-ground); color: var(--bad);
          border: 1px solid var(--bad); }

        """

    private static let requests = """

        #requests { padding: 1rem 0 0; overflow: hidden; }
        #requests > .section-head { padding: 0 1rem; }
        #log[data-show=refused] .request.ok { display: none; }
        .request { border-top: 1px solid var(--line); border-left: 3px solid transparent; }
        .request.refused { border-left-color: var(--bad); }
        .request.fault { border-left-color: var(--warn); }
        .row { display: grid;
          grid-template-columns: 4.25rem minmax(8rem, 1.1fr) minmax(8rem, 1fr) minmax(0, 2fr);
          gap: .125rem 1rem; padding: .5rem 1rem .5rem .8125rem; color: inherit;
          text-decoration: none; align-items: baseline; }
        .row:hover { background: var(--raised); }
        .row:focus-visible { outline-offset: -2px; }
        .row time { font-family: var(--mono); font-size: .8125rem; color: var(--muted); }
        .method { color: var(--muted); font-size: .75rem; font-weight: 600; }
        .endpoint { font-weight: 500; }
        .grant { display: block; color: var(--muted); font-size: .8125rem; font-weight: 400; }
        .client { color: var(--muted); font-size: .875rem; }
        .status { font-weight: 600; font-size: .8125rem; color: var(--ok); }
        .refused .status { color: var(--bad); }
        .fault .status { color: var(--warn); }
        .verdict { display: block; color: var(--muted); font-size: .875rem; }
        .refused .verdict { color: var(--text); }
        .row[aria-expanded=true] { background: var(--raised); }
        .welcome { padding: 1.5rem 1rem; border-top: 1px solid var(--line); }
        .welcome pre { margin-top: .75rem; }
        #log:not(:empty) + .welcome { display: none; }
        .detail { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
          gap: 1.25rem 2rem; padding: 1rem 1.25rem 1.5rem; background: var(--ground);
          border-top: 1px solid var(--line); }
        .detail > div { display: grid; gap: .25rem; align-content: start; }
        .detail h4:not(:first-child), .detail .copy { margin-top: 1rem; }
        .checks { display: grid; gap: .25rem; }
        .checks li { display: grid; grid-template-columns: 1.25rem minmax(6rem, auto) 1fr; gap: .5rem;
          align-items: baseline; }
        .checks .mark { color: var(--ok); font-weight: 700; text-align: center; }
        .checks b { font-weight: 500; color: var(--muted); font-size: .875rem; }
        .checks .noted .mark { color: var(--warn); }
        .checks .failed { padding: .375rem .5rem; margin: .25rem -.5rem; border-radius: .5rem;
          background: var(--bad-ground); }
        .checks .failed .mark, .checks .failed b, .checks .failed span { color: var(--bad); }
        .checks .failed span:last-child { font-weight: 600; }
        .findings { display: grid; gap: .5rem; }
        .finding { padding: .625rem .75rem; border: 1px solid var(--line); border-radius: .5rem;
          background: var(--surface); }
        .finding .advice { color: var(--muted); }
        .fields { display: grid; gap: 1px; }
        .fields > div { display: grid; grid-template-columns: 10rem minmax(0, 1fr); gap: .75rem;
          padding: .1875rem 0; border-bottom: 1px solid var(--line); }
        .fields dt { color: var(--muted); font-size: .875rem; overflow-wrap: anywhere; }
        .fields dd { font-family: var(--mono); font-size: .8125rem; overflow-wrap: anywhere; }
        .fields dd .caption { font-family: system-ui, sans-serif; display: block; }
        .masked, .fields dt .caption { color: var(--muted); }
        .detail summary { color: var(--accent); font-size: .875rem; padding: .375rem 0; }
        pre { padding: .75rem; border: 1px solid var(--line); border-radius: .5rem;
          background: var(--surface); white-space: pre-wrap; overflow-wrap: anywhere; }
        .copy { display: flex; justify-content: space-between; align-items: center; }
        .copy h4 { margin: 0; }
        .copy button { min-height: 1.75rem; }
        @media (max-width: 82rem) {
          .detail { grid-template-columns: minmax(0, 1fr); }
        }
        @media (max-width: 48rem) {
          .row { grid-template-columns: 1fr auto; }
          .row .endpoint { grid-column: 1; grid-row: 1; }
          .row time { grid-column: 2; grid-row: 1; }
          .row .client, .row .result { grid-column: 1 / -1; }
          .row .client:empty { display: none; }
          .grant { display: inline; }
          .fields > div { grid-template-columns: minmax(0, 1fr); gap: 0; }
          .detail { padding: 1rem; }
        }

        """

    private static let panels = """

        .lines > li { display: flex; justify-content: space-between; align-items: center;
          gap: .75rem; padding: .4375rem 0; border-top: 1px solid var(--line); }
        .lines > li:first-child { border-top: 0; }
        .lines > li > span:first-child { min-width: 0; }
        .session > span:last-child { display: grid; justify-items: end; white-space: nowrap; }
        form.stack + .lines, [data-panel] > .empty { margin-top: .75rem; }
        #faults [data-panel] { margin-top: .75rem; }
        .people { display: grid; gap: 1rem; }
        .people > li { display: grid; gap: .5rem; }
        .people > li + li { border-top: 1px solid var(--line); padding-top: 1rem; }
        .person { display: flex; gap: .75rem; }
        .person > div { min-width: 0; }
        .face { flex: none; width: 2.25rem; height: 2.25rem; border-radius: 50%; display: grid;
          place-items: center; background: var(--raised); color: var(--accent); font-weight: 700; }
        .notifications { display: grid; gap: .875rem; }
        .notifications > li { display: grid; gap: .25rem; }
        .notifications > li + li { border-top: 1px solid var(--line); padding-top: .875rem; }
        .attempts:empty { display: none; }

        """
}
