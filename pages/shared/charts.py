"""What the charts of several pages share: the frame around a figure, and how it is put on a page."""

import plotly.graph_objects as go
import streamlit as st


def framed(figure: go.Figure, height: int, left: int = 0, right: int = 12) -> go.Figure:
    """A figure with the margins, legend and type that all share; a finger that scrolls past does not zoom."""
    figure.update_layout(height=height, margin={"l": left, "r": right, "t": 36, "b": 0}, dragmode=False, bargap=0.25)
    figure.update_layout(legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0, "font": {"size": 12}})
    figure.update_xaxes(automargin=True, fixedrange=True, title_font={"size": 12}, tickfont={"size": 12})
    figure.update_yaxes(automargin=True, fixedrange=True, title_font={"size": 12}, tickfont={"size": 12})
    return figure


def plot(figure: go.Figure, about: str, name: str) -> None:
    """A chart, described for screen readers; its only tool makes a picture of it, `name`.png."""
    picture = {"format": "png", "scale": 2, "filename": name}
    tools = {"modeBarButtons": [["toImage"]], "displaylogo": False, "toImageButtonOptions": picture}
    with st.container(key=f"chart-{name.replace('@', '-')}"):
        st.plotly_chart(figure, alt=about, config=tools)
